namespace FastPort.Telemetry;

/// <summary>Which end of a connection measures; it decides which three latencies there are.</summary>
public enum LatencyRole
{
    /// <summary>Round trip, server time, network time.</summary>
    Client,

    /// <summary>Decode-to-send, queue time, handler time.</summary>
    Server,
}

/// <summary>What a series of latencies belongs to.</summary>
public enum LatencyScope
{
    /// <summary>Every message.</summary>
    All,

    /// <summary>The messages of one type.</summary>
    MessageType,

    /// <summary>The messages of one session.</summary>
    Session,
}
