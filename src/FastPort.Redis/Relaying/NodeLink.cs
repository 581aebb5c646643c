using System.Buffers.Binary;
using FastPort.Framing;
using FastPort.Redis.Wire;
using FastPort.Routing;
using FastPort.Sessions;
using StackExchange.Redis;

namespace FastPort.Redis.Relaying;

/// <summary>
/// The way to one other node. What gathers while a batch is on its way to Redis is the next batch. The receiver says which batches it has
/// seen; relays and publications are accepted while fewer than <see cref="WindowBytes"/> have not been. <see cref="_gate"/> guards all
/// fields; nothing else is called under it.
/// </summary>
internal sealed class NodeLink : IThreadPoolWorkItem
{
    /// <summary>
    /// Bytes on their way to one node: many times what a round trip needs, and a small part of what Redis holds for a subscriber.
    /// </summary>
    public const int WindowBytes = 1024 * 1024;

    private readonly Lock _gate = new();
    private readonly RelayTransport _transport;
    private readonly RedisChannel _channel;
    private readonly UnseenBatches _unseen = new();
    private BatchBuffer _gathering = new();
    private BatchBuffer _sending = new();
    private ulong _number = 1;
    private BatchContent _content;
    private bool _isSending;
    private bool _isClosed;
    private TaskCompletionSource? _room;

    // Only for the thread that receives batches.
    private ulong _lastReceived;

    public NodeLink(RelayTransport transport, ulong instance)
    {
        _transport = transport;
        Instance = instance;
        _channel = transport.ChannelOf(instance);
    }

    public ulong Instance { get; }

    /// <summary>Bytes that wait to be sent or seen.</summary>
    public int QueuedBytes
    {
        get
        {
            lock (_gate)
            {
                return WindowUsed;
            }
        }
    }

    private int WindowUsed => _unseen.Bytes + (_content.NeedsSeen ? _gathering.Length : 0);

    private bool IsFull => WindowUsed >= WindowBytes;

    /// <summary>Adds a relay.</summary>
    /// <param name="pending">What waits for it here; null if it is one-way, or another node waits.</param>
    /// <param name="correlation">Its correlation; 0 if it is one-way.</param>
    /// <param name="origin">The node that waits for the confirmation.</param>
    /// <param name="token">The token of the target's claim.</param>
    /// <param name="type">Message type.</param>
    /// <param name="hops">How often it was passed on.</param>
    /// <param name="id">The target.</param>
    /// <param name="body">The message.</param>
    /// <param name="force">Whether it is added even if the window is full.</param>
    /// <returns>Queued; Full; NotFound if the node has left.</returns>
    public SendStatus TryRelay<TBody>(
        PendingRelay? pending,
        ulong correlation,
        ulong origin,
        long token,
        ushort type,
        byte hops,
        ReadOnlySpan<byte> id,
        scoped in TBody body,
        bool force)
        where TBody : IFrameBody, allows ref struct
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                return SendStatus.NotFound;
            }

            if (!force && IsFull)
            {
                return SendStatus.Full;
            }

            int size = body.Size;
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
            Begin();
            return SendStatus.Queued;
        }
    }

    /// <summary>Adds a publication. False if the window is full, or the node has left.</summary>
    public bool TryPublish<TBody>(ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        lock (_gate)
        {
            if (_isClosed || IsFull)
            {
                return false;
            }

            int size = body.Size;
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

    /// <summary>Adds an entry about wanted topics, even if the window is full. False if the node has left.</summary>
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

    /// <summary>
    /// A batch has arrived from the node. False if it is not the next one: others are lost, or the node has begun to count anew. Only for
    /// the thread that receives batches.
    /// </summary>
    public bool Receives(ulong number)
    {
        bool isNext = _lastReceived == 0 || number == _lastReceived + 1;
        _lastReceived = number;
        return isNext;
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

    /// <param name="kind">TakenOver or Moved; PeerQuestion or PeerAnswer.</param>
    /// <param name="number">The token of the claim that is out of date, or the correlation.</param>
    /// <param name="rest">The id, or what is asked or answered.</param>
    public void Tell(EntryKind kind, long number, ReadOnlySpan<byte> rest)
    {
        lock (_gate)
        {
            Span<byte> payload = Add(kind, 8 + rest.Length);
            BinaryPrimitives.WriteInt64LittleEndian(payload, number);
            rest.CopyTo(payload[8..]);
        }
    }

    /// <summary>The receiver has seen this batch and all before it.</summary>
    public void Seen(ulong number)
    {
        lock (_gate)
        {
            _unseen.Seen(number);
            TellRoom();
        }
    }

    /// <summary>Sends what is left after a failure.</summary>
    public void TryAgain()
    {
        lock (_gate)
        {
            if (!_gathering.IsEmpty)
            {
                Begin();
            }
        }
    }

    /// <summary>Completes when relays and publications are accepted again, or the node has left.</summary>
    public Task WhenRoomAsync()
    {
        lock (_gate)
        {
            return !IsFull || _isClosed
                ? Task.CompletedTask
                : (_room ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }
    }

    /// <summary>Gives up the batches that were sent before a time and have not been seen.</summary>
    public void GiveUp(long sentBefore)
    {
        ulong first, last;
        BatchContent lost;
        lock (_gate)
        {
            lost = _unseen.GiveUp(sentBefore, out first, out last);
            TellRoom();
        }

        if (last != 0)
        {
            _transport.Lost(this, first, last, lost);
        }
    }

    /// <summary>The node's lease has ended: what is under way is unconfirmed, what was not sent looks for its target again.</summary>
    public void Close()
    {
        BatchBuffer? rest = null;
        BatchContent lost;
        lock (_gate)
        {
            _isClosed = true;
            lost = _unseen.GiveUp(long.MaxValue, out _, out _);
            if (_content.NeedsSeen && !_isSending)
            {
                rest = _gathering;
                _gathering = new BatchBuffer();
            }

            _content = default;
            TellRoom();
        }

        _transport.Lost(this, 0, ulong.MaxValue, lost);
        if (rest is not null)
        {
            _transport.Undelivered(this, rest.Memory.Span);
        }
    }

    // Fire and forget: SendAsync handles every failure.
    void IThreadPoolWorkItem.Execute() => _ = SendAsync();

    private Span<byte> Add(EntryKind kind, int size)
    {
        Span<byte> payload = _gathering.Add(kind, size);
        Begin();
        return payload;
    }

    private void Begin()
    {
        if (!_isSending)
        {
            _isSending = true;
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    private void TellRoom()
    {
        if (_room is { } room && (_isClosed || !IsFull))
        {
            _room = null;
            room.SetResult();
        }
    }

    private async Task SendAsync()
    {
        while (true)
        {
            SentBatch batch;
            lock (_gate)
            {
                _sending.Clear();
                if (_gathering.IsEmpty)
                {
                    _isSending = false;
                    return;
                }

                (_gathering, _sending) = (_sending, _gathering);
                batch = new SentBatch(_number++, _sending.Length, _content, _transport.Now);
                _content = default;
                if (batch.Content.NeedsSeen)
                {
                    _unseen.Add(batch);
                }
            }

            _sending.Seal(_transport.Self, batch.Number);
            _transport.Counters.BatchSent(batch.Content, batch.Bytes);
            long receivers;
            try
            {
                receivers = await _transport.PublishAsync(_channel, _sending.Memory).ConfigureAwait(false);
            }
            catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException)
            {
                // Redis may have received it or not.
                Forget(batch.Number);
                _transport.Lost(this, batch.Number, batch.Number, batch.Content);
                SendAgainLater();
                return;
            }

            if (receivers == 0 && _transport.CountsReceivers)
            {
                Forget(batch.Number);
                _transport.Undelivered(this, _sending.Memory.Span);
            }
        }
    }

    // What says what became of relays may arrive twice: senders wait for it. Relays and publications may not, and of topics all is told
    // again. Tried again by the transport's timer or the next entry.
    private void SendAgainLater()
    {
        lock (_gate)
        {
            BatchReader reader = BatchReader.OpenOwn(_sending.Memory.Span);
            while (reader.Read())
            {
                if (!reader.Kind.NeedsSeen())
                {
                    reader.Payload.CopyTo(_gathering.Add(reader.Kind, reader.Payload.Length));
                }
            }

            // The client of Redis may still hold the bytes of the batch.
            _sending = new BatchBuffer();
            _isSending = false;
        }
    }

    // A batch that nobody will see.
    private void Forget(ulong number)
    {
        lock (_gate)
        {
            _unseen.Remove(number);
            TellRoom();
        }
    }
}
