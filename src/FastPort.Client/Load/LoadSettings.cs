using FastPort.Client.Commands;
using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>The settings of a load run. Immutable.</summary>
internal sealed record LoadSettings
{
    public const int MaxConnections = 100_000;

    public const int MaxInFlight = 65_536;

    /// <summary>
    /// Maximum number of connections for which the latencies of each connection are measured: they cost about 50 KB per connection, and
    /// time at each report.
    /// </summary>
    public const int MaxMeasuredSessions = 1000;

    /// <summary>The server as a URI; null to host a server in this process.</summary>
    public string? Server { get; init; }

    /// <summary>File with the token for the server; empty for none.</summary>
    public string TokenFile { get; init; } = string.Empty;

    /// <summary>How the server is reached safely.</summary>
    public ServerAccess Access { get; init; } = new();

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

    /// <summary>Whether the latencies of each connection are measured.</summary>
    public bool MeasuresSessions => Mode == LoadMode.Echo && Connections <= MaxMeasuredSessions;

    /// <summary>Path of the JSON result; null for none.</summary>
    public string? JsonPath { get; init; }

    /// <summary>Path of the report as a page; null for none.</summary>
    public string? HtmlPath { get; init; }

    /// <summary>
    /// The transport of the connections. A server in this process reads it from the configuration, which the command line overrides.
    /// </summary>
    public TransportChoice Transport { get; init; } = new();

    public bool Progress { get; init; } = true;

    /// <summary>How long the run waits for replies at its end.</summary>
    public TimeSpan DrainTimeout { get; init; } = TimeSpan.FromSeconds(5);
}
