using FastPort.Client.Load;
using FastPort.Client.Reports;

namespace FastPort.Client.Tests.Reports;

/// <summary>Results to write, read and compare.</summary>
internal static class Results
{
    public static readonly LoadEnvironment Here = new("Linux", 2, ".NET 10", "workstation", "abc");

    public static readonly LoadResult Before = new()
    {
        Mode = "echo",
        Server = "tcp://127.0.0.1:6628",
        Connections = 32,
        InFlight = 16,
        PayloadBytes = 64,
        DurationSeconds = 10,
        Messages = 53_300,
        Errors = 0,
        MessagesPerSecond = 5330,
        BytesPerSecond = 341_120,
        RoundTrip = new LatencyFigures(53_300, 100, 96_030, 100_000, 110_000, 180_000, 217_988.1, 300_000, 400_000),
        ServerTime = new LatencyFigures(53_300, 1, 234, 200, 250, 300, 400, 500, 600),
        Network = new LatencyFigures(53_300, 99, 95_796, 99_800, 109_750, 179_700, 217_588.1, 299_500, 399_400),
        Environment = Here,
        Transport = "epoll",
    };

    public static readonly LoadResult After = Before with
    {
        Messages = 99_920,
        MessagesPerSecond = 9992,
        BytesPerSecond = 639_488,
        Errors = 3,
        Reconnects = 4,
        RoundTrip = new LatencyFigures(99_920, 90, 51_240, 61_000, 61_500, 62_000, 63_000, 64_000, 122_400),
        ServerTime = new LatencyFigures(99_920, 1, 12, 10, 13, 15, 20, 25, 30),
        Network = new LatencyFigures(99_920, 89, 51_228, 60_990, 61_487, 61_985, 62_980, 63_975, 122_370),
    };

    public static readonly LoadResult Sink = Before with { Mode = "sink", RoundTrip = null, ServerTime = null, Network = null };

    public static readonly IReadOnlyDictionary<LoadErrorKind, long> NoErrors = Enum.GetValues<LoadErrorKind>()
        .ToDictionary(static kind => kind, static _ => 0L);
}
