namespace FastPort.Comparisons.Measuring;

/// <summary>Who takes part in messaging: the command of each side, or of one process that is both.</summary>
/// <param name="Name">Name in the tables.</param>
/// <param name="Missing">Says why it cannot take part, or null where it can.</param>
internal sealed record MessagingPeer(string Name, Func<string?> Missing)
{
    /// <summary>The sending side; it prints where it listens, and "ready" when its peer is there.</summary>
    public required IReadOnlyList<string> Server { get; init; }

    /// <summary>The receiving side, given the endpoints that the server printed; null where the server's process is both sides.</summary>
    public required Func<IReadOnlyList<string>, IReadOnlyList<string>>? Client { get; init; }

    /// <summary>Endpoints the server prints. Defaults to 1.</summary>
    public int Endpoints { get; init; } = 1;

    /// <summary>
    /// Whether each of two processes has a core of its own; else both may use both cores, as one process that is both may. Defaults to
    /// true.
    /// </summary>
    public bool IsPinned { get; init; } = true;

    /// <summary>Whether its code is compiled and tuned while it runs. Defaults to false.</summary>
    public bool IsManaged { get; init; }
}
