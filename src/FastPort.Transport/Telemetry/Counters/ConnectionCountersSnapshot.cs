namespace FastPort.Telemetry;

/// <summary>The counts of a <see cref="ConnectionCounters"/> at one moment, since the start of the server. Immutable.</summary>
public sealed class ConnectionCountersSnapshot
{
    /// <summary>Pairs of <see cref="RateScope"/> and <see cref="RateResource"/>.</summary>
    internal const int RateTags = 12;

    private const int RateResources = 4;

    private readonly long[] _rejected;
    private readonly long[] _ratesExceeded;

    internal ConnectionCountersSnapshot(long[] rejected, long[] ratesExceeded)
    {
        _rejected = rejected;
        _ratesExceeded = ratesExceeded;
    }

    /// <summary>Connections accepted.</summary>
    public long ConnectionsAccepted { get; internal init; }

    /// <summary>Accepted connections that have ended.</summary>
    public long ConnectionsClosed { get; internal init; }

    /// <summary>Open connections.</summary>
    public long ConnectionsOpen => ConnectionsAccepted - ConnectionsClosed;

    /// <summary>Connections rejected, for all reasons.</summary>
    public long ConnectionsRejected => _rejected.Sum();

    /// <summary>Failed accepts.</summary>
    public long AcceptErrors { get; internal init; }

    /// <summary>Connections rejected for one reason.</summary>
    /// <param name="reason">The reason.</param>
    public long ConnectionsRejectedFor(ConnectionRejection reason) => _rejected[(int)reason];

    /// <summary>How often sessions or new connections were over a rate.</summary>
    /// <param name="scope">The scope of the rate.</param>
    /// <param name="resource">The resource that the rate limits.</param>
    public long RatesExceededFor(RateScope scope, RateResource resource) => _ratesExceeded[(int)RateTag(scope, resource)];

    internal static uint RateTag(RateScope scope, RateResource resource) => ((uint)scope * RateResources) + (uint)resource;
}
