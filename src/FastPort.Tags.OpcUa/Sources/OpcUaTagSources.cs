namespace FastPort.Tags.OpcUa.Sources;

/// <summary>The sources of a host, one for each endpoint.</summary>
internal sealed record OpcUaTagSources(IReadOnlyList<OpcUaTagSource> All);
