using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>What a load run was asked to do. Immutable.</summary>
internal sealed record LoadSettings
{
    public const int MaxConnections = 100_000;

    public const int MaxInFlight = 65_536;

    /// <summary>
    /// Connections up to which each has latencies of its own: they cost about 50 KB a connection, and time at each report.
    /// </summary>
    public const int MaxMeasuredSessions = 1000;

    /// <summary>The server as a URI; null hosts one inside this process.</summary>
    public string? Server { get; init; }

    public int Connections { get; init; } = 32;

    /// <summary>Requests in flight per connection.</summary>
    public int InFlight { get; init; } = 16;

    /// <summary>Payload bytes of a message.</summary>
    public int Size { get; init; } = 64;

    /// <summary>The measured time, without warm-up.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Messages per second over all connections; null for the closed loop.</summary>
    public double? Rate { get; init; }

    public LoadMode Mode { get; init; }

    /// <summary>Whether each connection has latencies of its own.</summary>
    public bool MeasuresSessions => Mode == LoadMode.Echo && Connections <= MaxMeasuredSessions;

    /// <summary>Where the result goes as JSON; null for nowhere.</summary>
    public string? JsonPath { get; init; }

    /// <summary>
    /// What the connections run on; a server inside this process takes it from the configuration, where the command line wins.
    /// </summary>
    public TransportChoice Transport { get; init; } = new();

    public bool Progress { get; init; } = true;

    /// <summary>How long replies in flight at the end are waited for.</summary>
    public TimeSpan DrainTimeout { get; init; } = TimeSpan.FromSeconds(5);
}
