namespace FastPort.Telemetry;

/// <summary>Which end of a connection measures; it determines the three latencies.</summary>
public enum LatencyRole
{
    /// <summary>Round trip, server time, network time.</summary>
    Client,

    /// <summary>Decode-to-send, queue time, handler time.</summary>
    Server,
}

/// <summary>The scope of a series of latencies.</summary>
internal enum LatencyScope
{
    /// <summary>Every message.</summary>
    All,

    /// <summary>The messages of one type.</summary>
    MessageType,

    /// <summary>The messages of one session.</summary>
    Session,

    /// <summary>The calls of one operation of the application.</summary>
    Operation,
}
