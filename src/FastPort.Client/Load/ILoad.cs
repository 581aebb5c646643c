using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>One kind of load with its connections. Used once: connect, run, dispose.</summary>
internal interface ILoad : IAsyncDisposable
{
    /// <summary>Messages so far, warm-up included, for the progress line.</summary>
    long Messages { get; }

    /// <summary>The round trips so far, for the progress line; null if the load has none.</summary>
    LatencySnapshot? RoundTrips { get; }

    /// <summary>Connections made so far, for the progress line.</summary>
    int Connected { get; }

    /// <summary>Connects all connections.</summary>
    /// <exception cref="LoadFailedException">The server cannot be reached, or does not accept the messages of this run.</exception>
    Task ConnectAsync(CancellationToken cancellationToken);

    /// <summary>Warms up, measures, and waits for the requests in flight.</summary>
    /// <param name="warmedUp">Called once, when the measured time has begun.</param>
    /// <param name="interrupted">Ends the measurement early; the run still ends in order.</param>
    /// <exception cref="LoadFailedException">The run cannot continue.</exception>
    Task<LoadMeasurement> RunAsync(Action warmedUp, CancellationToken interrupted);
}

/// <summary>The measurement of a load, without warm-up.</summary>
/// <param name="Started">When the measured time began.</param>
/// <param name="Duration">The measured time.</param>
/// <param name="Messages">Messages served within the measured time.</param>
/// <param name="Latencies">
/// Round trip, server and network time, of an open loop those of the messages that were due within the measured time; null if the load has
/// no replies.
/// </param>
internal sealed record LoadMeasurement(DateTimeOffset Started, TimeSpan Duration, long Messages, LatencyReport? Latencies)
{
    /// <summary>Messages of the open loop that were due within the measured time and never sent; null in other loads.</summary>
    public long? Missed { get; init; }

    /// <summary>Messages and errors over the time, of a one-way load; null for other loads, whose latencies have the time.</summary>
    public IReadOnlyList<ThroughputColumn>? Throughput { get; init; }

    /// <summary>Connections that were lost and reconnected.</summary>
    public long Reconnects { get; init; }

    /// <summary>What limited the rate.</summary>
    public string BoundBy { get; init; } = string.Empty;

    /// <summary>Number of times that no reply came, or for a one-way load no message moved, for over a second.</summary>
    public long Interruptions { get; init; }

    /// <summary>How long <see cref="Interruptions"/> lasted in all.</summary>
    public TimeSpan InterruptedTime { get; init; }
}
