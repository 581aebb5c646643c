namespace FastPort.OpcUa.Server;

/// <summary>A Call that has begun and not ended.</summary>
/// <param name="RequestHandle">The client's number of the request.</param>
/// <param name="Cancellation">Tells the methods that the client wants no result.</param>
internal sealed record RunningCall(uint RequestHandle, CancellationTokenSource Cancellation);
