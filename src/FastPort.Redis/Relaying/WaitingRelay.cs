using FastPort.Redis.Wire;

namespace FastPort.Redis.Relaying;

/// <summary>A relay that waits at this node, with a copy of its message.</summary>
/// <param name="Correlation">Its correlation at the origin; 0 if it is one-way.</param>
/// <param name="Origin">The instance that waits for the confirmation.</param>
/// <param name="Type">Message type.</param>
/// <param name="Hops">How often it was forwarded.</param>
/// <param name="Body">The message.</param>
/// <param name="Since">The start of its wait, as a timestamp.</param>
/// <param name="Pending">The waiter for its confirmation on this node; null for none. Defaults to null.</param>
internal readonly record struct WaitingRelay(
    ulong Correlation, ulong Origin, ushort Type, byte Hops, byte[] Body, long Since, PendingRelay? Pending = null)
{
    // A rough upper bound of a relay's memory in addition to its message: a queue's entry, an array's head, its target's part of a table.
    private const int FixedBytes = 150;

    /// <summary>Memory that it takes, about.</summary>
    public int Bytes => BytesFor(Body.Length);

    /// <summary>Approximate memory of a relay with a message of this length.</summary>
    public static int BytesFor(int bodyLength) => FixedBytes + bodyLength;

    public static WaitingRelay Copy(in RelayEntry entry, int moreHops, long now) => new(
        entry.Correlation, entry.Origin, entry.Type, (byte)(entry.Hops + moreHops), entry.Body.ToArray(), now);
}
