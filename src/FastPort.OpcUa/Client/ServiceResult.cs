namespace FastPort.OpcUa.Client;

/// <summary>The status of a service, and its response if that is good.</summary>
internal readonly record struct ServiceResult<T>(StatusCode Status, T Response);
