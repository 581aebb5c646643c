using FastPort.Redis.Members;
using FastPort.Redis.Wire;
using StackExchange.Redis;

namespace FastPort.Redis.Relaying;

/// <summary>
/// The way to one other node. Entries collected while a batch is on its way to Redis form the next batch. The receiver says which batches
/// it has seen; relays and publications are accepted while fewer than <see cref="WindowBytes"/> have not been. <see cref="_gate"/> guards
/// all fields; nothing else is called under it.
/// </summary>
internal sealed partial class NodeLink
{
    /// <summary>
    /// Bytes on their way to one node: many times what a round trip needs, and a small part of what Redis holds for a subscriber.
    /// </summary>
    public const int WindowBytes = 1024 * 1024;

    // Of an answer about peers in bytes: a page of sessions, not one found or kicked.
    private const int LongAnswer = 4096;

    /// <summary>
    /// The longest message: the window is exceeded by one at most. Redis closes the connection of a subscriber for which 32 MB wait, and
    /// other nodes send to the same one.
    /// </summary>
    public const int MaxBodyBytes = 8 * 1024 * 1024;

    private readonly Lock _gate = new();
    private readonly RelayTransport _transport;
    private readonly RedisChannel _channel;
    private readonly UnseenBatches _unseen = new();
    private BatchBuffer _gathering = new();
    private BatchBuffer _sending = new();

    // Later than all of an earlier link to the same node, so that its first batch is not taken for the last one of that.
    private readonly ulong _firstNumber;
    private ulong _number;
    private long _relays;
    private long _batchBytes;
    private long? _lag;
    private BatchContent _content;
    private List<(ulong Correlation, ulong Origin)>? _forwarded;
    private bool _isSending;
    private bool _isReturning;
    private bool _isLeaving;
    private bool _isClosed;
    private TaskCompletionSource? _room;

    // Only for the thread that receives batches.
    private ulong _lastReceived;

    /// <param name="transport">What it is a part of.</param>
    /// <param name="instance">The node.</param>
    /// <param name="member">
    /// The known state of the node; null if unknown. If it does not read this node's batches, relays and publications are refused. A node
    /// that is not known is taken for one of this version: it ignores what it cannot read.
    /// </param>
    public NodeLink(RelayTransport transport, ulong instance, Member? member)
    {
        IsCompatible = member is not { IsCompatible: false };
        _transport = transport;
        Instance = instance;
        Name = member?.Name ?? Member.Format(instance);
        _channel = transport.ChannelOf(instance);
        _firstNumber = _number = (ulong)transport.Now + 1;
    }

    /// <summary>Whether the node reads this one's batches, as far as is known.</summary>
    public bool IsCompatible { get; }

    public ulong Instance { get; }

    /// <summary>The node's name, also after it has left.</summary>
    public string Name { get; }

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

    /// <summary>Whether every entry, confirmations included, is sent, and the node has seen every batch that it acknowledges.</summary>
    public bool IsIdle
    {
        get
        {
            lock (_gate)
            {
                return !_isSending && _gathering.IsEmpty && _unseen.Bytes == 0;
            }
        }
    }

    /// <summary>What was sent so far, and how far the node is behind now.</summary>
    public LinkFigures Read()
    {
        lock (_gate)
        {
            long? waits = _transport.Now - _unseen.OldestSentAt;
            return new LinkFigures(_relays, (long)(_number - _firstNumber), _batchBytes, WindowUsed, waits > (_lag ?? 0) ? waits : _lag);
        }
    }

    private int WindowUsed => _unseen.Bytes + (_content.NeedsSeen ? _gathering.Length : 0);

    private bool IsFull => WindowUsed >= WindowBytes;

    private bool HasRoom => !IsFull && !_isReturning;

    /// <summary>Completes when all lists that the node has asked for are answered. Only for the thread that receives batches.</summary>
    public Task Listing { get; set; } = Task.CompletedTask;

    /// <summary>Whether this is the batch that has arrived last, once more. Only for the thread that receives batches.</summary>
    public bool IsRepeated(ulong number) => number == _lastReceived;

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

    /// <summary>The receiver has seen this batch.</summary>
    public void Seen(ulong number)
    {
        lock (_gate)
        {
            _lag = _transport.Now - _unseen.Seen(number) ?? _lag;
            TellRoom();
        }
    }

    /// <summary>Completes when relays and publications are accepted again, or the node has left or is leaving.</summary>
    public Task WhenRoomAsync()
    {
        lock (_gate)
        {
            return HasRoom || _isLeaving
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

    /// <summary>Whether the node takes no more relays: see <see cref="StopRelays"/>.</summary>
    public bool IsLeaving
    {
        get
        {
            lock (_gate)
            {
                return _isLeaving;
            }
        }
    }

    /// <summary>
    /// The node is leaving. Relays that were added before this call reach it before the acknowledgment of its message does. Later ones are
    /// refused with NotFound.
    /// </summary>
    public void StopRelays()
    {
        lock (_gate)
        {
            _isLeaving = true;
            TellRoom();
        }
    }

    /// <summary>The node's lease has ended: relays in transit are unconfirmed, unsent relays look for their targets again.</summary>
    public void Close()
    {
        BatchBuffer? rest = null;
        BatchContent lost;
        ulong last;
        lock (_gate)
        {
            _isLeaving = _isClosed = true;
            lost = _unseen.GiveUp(long.MaxValue, out _, out _);
            if (!_isSending)
            {
                // Otherwise the thread that sends finds the link closed.
                rest = _gathering;
                _gathering = new BatchBuffer();
            }

            _content = default;
            _forwarded = null;
            last = _number - 1;
            TellRoom();
        }

        _transport.Lost(this, 0, last, lost);
        if (rest is not null)
        {
            _transport.Undelivered(this, rest.Memory.Span);
            rest.Return();
        }
    }

    private void TellRoom()
    {
        if (_room is { } room && (_isLeaving || HasRoom))
        {
            _room = null;
            room.SetResult();
        }
    }
}
