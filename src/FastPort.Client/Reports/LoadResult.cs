using FastPort.Client.Load;
using FastPort.Telemetry;

namespace FastPort.Client.Reports;

/// <summary>The result of one load run, written to and read from JSON. Immutable.</summary>
internal sealed record LoadResult
{
    public const int CurrentSchema = 2;

    public required string Mode { get; init; }

    public required string Server { get; init; }

    public required int Connections { get; init; }

    public required int InFlight { get; init; }

    public required int PayloadBytes { get; init; }

    /// <summary>Requested messages per second; null in the closed loop.</summary>
    public double? Rate { get; init; }

    /// <summary>Measured seconds, without warm-up.</summary>
    public required double DurationSeconds { get; init; }

    /// <summary>Messages served within the measured time.</summary>
    public required long Messages { get; init; }

    public required long Errors { get; init; }

    public required double MessagesPerSecond { get; init; }

    /// <summary>Payload bytes per second in one direction.</summary>
    public required double BytesPerSecond { get; init; }

    public LatencyFigures? RoundTrip { get; init; }

    public LatencyFigures? ServerTime { get; init; }

    public LatencyFigures? Network { get; init; }

    /// <summary>Those of <see cref="Errors"/> that came before the measured time; 0 in results read from JSON.</summary>
    public long WarmUpErrors { get; init; }

    /// <summary>Errors by kind; empty in results read from JSON.</summary>
    public IReadOnlyDictionary<LoadErrorKind, long> ErrorKinds { get; init; } = new Dictionary<LoadErrorKind, long>();

    /// <summary>Messages of the open loop that were due in the measured time and never sent; null in the closed loop.</summary>
    public long? MissedSends { get; init; }

    public long Reconnects { get; init; }

    /// <summary>Number of times that no reply came for over a second; null in results of versions without it.</summary>
    public long? Interruptions { get; init; }

    /// <summary>How long <see cref="Interruptions"/> lasted in total; null like these.</summary>
    public double? InterruptedSeconds { get; init; }

    /// <summary>What limited the rate; null in results read from JSON.</summary>
    public string? BoundBy { get; init; }

    /// <summary>Whether the server ran inside the load client; null in results read from JSON.</summary>
    public bool? Hosted { get; init; }

    public required LoadEnvironment Environment { get; init; }

    /// <summary>The transport of the load client's connections, epoll or sockets; null in results of versions without this field.</summary>
    public string? Transport { get; init; }

    /// <summary>The time before the measured time; null in results of versions without it and the next three.</summary>
    public double? WarmUpSeconds { get; init; }

    /// <summary>Event loops of the transport; null if not given.</summary>
    public int? Loops { get; init; }

    /// <summary>How long a loop spins before it sleeps; null if not given.</summary>
    public int? SpinMicroseconds { get; init; }

    /// <summary>Whether loops are bound to cores; null if not given.</summary>
    public bool? PinLoops { get; init; }

    /// <summary>The figures of each connection, by number; null if they were not measured, and in results read from JSON.</summary>
    public IReadOnlyList<ConnectionFigures>? PerConnection { get; init; }

    /// <summary>When the measured time began; null in results read from JSON.</summary>
    public DateTimeOffset? Started { get; init; }

    /// <summary>The arguments of the program; null in results read from JSON.</summary>
    public string? CommandLine { get; init; }

    /// <summary>The latencies, for their distributions; null if there are none, and in results read from JSON.</summary>
    public LatencyReport? Latencies { get; init; }

    /// <summary>Messages and errors over the time, of a one-way load; null for other loads, and in results read from JSON.</summary>
    public IReadOnlyList<ThroughputColumn>? Throughput { get; init; }

    /// <summary>Creates the result of a measurement.</summary>
    public static LoadResult From(LoadSettings settings, string server, LoadMeasurement measured, LoadErrors errors)
    {
        double seconds = measured.Duration.TotalSeconds;
        double rate = seconds > 0 ? measured.Messages / seconds : 0;
        return new LoadResult
        {
            Mode = NameOf(settings.Mode),
            Server = server,
            Connections = settings.Connections,
            InFlight = settings.InFlight,
            PayloadBytes = settings.Size,
            Rate = settings.Rate,
            DurationSeconds = seconds,
            Messages = measured.Messages,
            Errors = errors.Total,
            WarmUpErrors = errors.DuringWarmUp,
            MessagesPerSecond = rate,
            BytesPerSecond = rate * settings.Size,
            RoundTrip = Figures(measured.Latencies, 0),
            ServerTime = Figures(measured.Latencies, 1),
            Network = Figures(measured.Latencies, 2),
            ErrorKinds = Enum.GetValues<LoadErrorKind>().ToDictionary(static kind => kind, kind => errors[kind]),
            MissedSends = measured.Missed,
            Reconnects = measured.Reconnects,
            Interruptions = measured.Interruptions,
            InterruptedSeconds = measured.InterruptedTime.TotalSeconds,
            BoundBy = measured.BoundBy,
            Hosted = settings.Server is null,
            Environment = LoadEnvironment.Current,
            Transport = settings.Transport.ClientTransport,
            WarmUpSeconds = settings.WarmUp.TotalSeconds,
            Loops = settings.Transport.Loops,
            SpinMicroseconds = settings.Transport.SpinMicroseconds,
            PinLoops = settings.Transport.PinLoops,
            Started = measured.Started,
            CommandLine = string.Join(' ', System.Environment.GetCommandLineArgs().Skip(1)),
            Latencies = measured.Latencies,
            Throughput = measured.Throughput,
            PerConnection = settings.MeasuresSessions ? ConnectionFigures.From(measured.Latencies) : null,
        };
    }

    /// <summary>The mode's name on the command line and in JSON.</summary>
    public static string NameOf(LoadMode mode) => mode switch
    {
        LoadMode.Echo => "echo",
        LoadMode.Sink => "sink",
        _ => "source",
    };

    private static LatencyFigures? Figures(LatencyReport? report, int metric) =>
        report is null ? null : LatencyFigures.From(report.All.Metrics[metric].Lifetime);
}
