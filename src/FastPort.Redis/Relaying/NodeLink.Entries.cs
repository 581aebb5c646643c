using System.Buffers.Binary;
using FastPort.Framing;
using FastPort.Redis.Wire;
using FastPort.Routing;

namespace FastPort.Redis.Relaying;

/// <content>Adds entries to the next batch.</content>
internal sealed partial class NodeLink
{
    /// <summary>Adds a relay.</summary>
    /// <param name="pending">Its waiter on this node; null if it is one-way, or another node waits.</param>
    /// <param name="correlation">Its correlation; 0 if it is one-way.</param>
    /// <param name="origin">The node that waits for the confirmation.</param>
    /// <param name="token">The token of the target's claim.</param>
    /// <param name="type">Message type.</param>
    /// <param name="hops">How often it was forwarded.</param>
    /// <param name="id">The target.</param>
    /// <param name="body">The message.</param>
    /// <returns>
    /// Queued; Full; TooLarge; NotFound if the node has left or is leaving; Unavailable if it does not read this node's batches.
    /// </returns>
    public SendStatus TryRelay<TBody>(
        PendingRelay? pending,
        ulong correlation,
        ulong origin,
        long token,
        ushort type,
        byte hops,
        ReadOnlySpan<byte> id,
        scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        lock (_gate)
        {
            if (_isLeaving)
            {
                return SendStatus.NotFound;
            }

            if (!IsCompatible)
            {
                return SendStatus.Unavailable;
            }

            if (!HasRoom)
            {
                return SendStatus.Full;
            }

            int size = body.Size;
            if (size > MaxBodyBytes)
            {
                return SendStatus.TooLarge;
            }

            int before = _gathering.Length;
            Span<byte> payload = _gathering.Add(EntryKind.Relay, RelayEntry.FixedSize + id.Length + size);
            try
            {
                RelayEntry.WriteHead(payload, correlation, origin, token, type, hops, id);
                body.Write(payload[(RelayEntry.FixedSize + id.Length)..]);
            }
            catch
            {
                _gathering.CutTo(before);
                throw;
            }

            _content += new BatchContent(Relays: 1, OneWays: correlation == 0 ? 1 : 0, Publications: 0, Interests: 0);
            pending?.Sent(this, _number);
            if (correlation != 0 && origin != _transport.Self)
            {
                (_forwarded ??= []).Add((correlation, origin));
            }

            Begin();
            return SendStatus.Queued;
        }
    }

    /// <summary>
    /// Adds a publication. False if it is too large, the window is full, or the node has left or does not read this node's batches.
    /// </summary>
    public bool TryPublish<TBody>(ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        lock (_gate)
        {
            if (_isClosed || IsFull || !IsCompatible)
            {
                return false;
            }

            int size = body.Size;
            if (size > MaxBodyBytes)
            {
                return false;
            }

            int before = _gathering.Length;
            Span<byte> payload = _gathering.Add(EntryKind.Publish, PublishEntry.FixedSize + topic.Length + size);
            try
            {
                PublishEntry.WriteHead(payload, audience, type, topic);
                body.Write(payload[(PublishEntry.FixedSize + topic.Length)..]);
            }
            catch
            {
                _gathering.CutTo(before);
                throw;
            }

            _content += new BatchContent(Relays: 0, OneWays: 0, Publications: 1, Interests: 0);
            Begin();
            return true;
        }
    }

    /// <summary>
    /// Adds an entry about wanted topics, or <see cref="EntryKind.Leaving"/>, even if the window is full. False if the node has left.
    /// </summary>
    public bool TryTell(EntryKind kind, ReadOnlySpan<byte> prefix)
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            prefix.CopyTo(Add(kind, prefix.Length));
            _content += new BatchContent(Relays: 0, OneWays: 0, Publications: 0, Interests: 1);
            return true;
        }
    }

    public void Confirm(ulong correlation, SendStatus status)
    {
        lock (_gate)
        {
            Span<byte> payload = Add(EntryKind.Confirmation, 9);
            BinaryPrimitives.WriteUInt64LittleEndian(payload, correlation);
            payload[8] = (byte)status;
        }
    }

    public void TellSeen(ulong number)
    {
        lock (_gate)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(Add(EntryKind.Seen, 8), number);
        }
    }

    public void Challenge(PendingRelay pending, long token, ReadOnlySpan<byte> id)
    {
        lock (_gate)
        {
            Span<byte> payload = Add(EntryKind.Challenge, 16 + id.Length);
            BinaryPrimitives.WriteUInt64LittleEndian(payload, pending.Correlation);
            BinaryPrimitives.WriteInt64LittleEndian(payload[8..], token);
            id.CopyTo(payload[16..]);
            pending.Sent(this, _number);
        }
    }

    /// <summary>
    /// Adds an entry if the link has room for it, but no long answer about peers: the asking node continues without it. While the next
    /// batch already holds a full window, the entry is dropped.
    /// </summary>
    /// <param name="kind">TakenOver or Moved; PeerQuestion or PeerAnswer.</param>
    /// <param name="number">The token of the outdated claim, or the correlation.</param>
    /// <param name="rest">The id, or the question or answer.</param>
    public void Tell(EntryKind kind, long number, ReadOnlySpan<byte> rest)
    {
        lock (_gate)
        {
            if (kind == EntryKind.PeerAnswer && rest.Length > LongAnswer && _gathering.Length >= WindowBytes)
            {
                return;
            }

            Span<byte> payload = Add(kind, 8 + rest.Length);
            BinaryPrimitives.WriteInt64LittleEndian(payload, number);
            rest.CopyTo(payload[8..]);
        }
    }

    private Span<byte> Add(EntryKind kind, int size)
    {
        Span<byte> payload = _gathering.Add(kind, size);
        Begin();
        return payload;
    }
}
