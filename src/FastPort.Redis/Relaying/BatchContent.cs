using FastPort.Redis.Wire;

namespace FastPort.Redis.Relaying;

/// <summary>The contents of one or more batches that must not get lost unnoticed.</summary>
/// <param name="Relays">Relays, one-way or not.</param>
/// <param name="OneWays">One-way relays.</param>
/// <param name="Publications">Publications.</param>
/// <param name="Interests">Entries about wanted topics, and the entry that this node is leaving.</param>
internal readonly record struct BatchContent(int Relays, int OneWays, int Publications, int Interests)
{
    /// <summary>
    /// Forwarded requests of other nodes, by correlation and origin: their origins do not know this batch. Null for none.
    /// </summary>
    public List<(ulong Correlation, ulong Origin)>? Forwarded { get; init; }

    /// <summary>Whether the receiver confirms the batch: see <see cref="EntryKinds.NeedsSeen"/>.</summary>
    public bool NeedsSeen => (Relays | Publications | Interests) != 0;

    public static BatchContent operator +(BatchContent x, BatchContent y) => new(
        x.Relays + y.Relays, x.OneWays + y.OneWays, x.Publications + y.Publications, x.Interests + y.Interests)
    {
        Forwarded = x.Forwarded is null ? y.Forwarded : y.Forwarded is null ? x.Forwarded : [.. x.Forwarded, .. y.Forwarded],
    };
}
