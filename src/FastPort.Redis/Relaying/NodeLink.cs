using FastPort.Redis.Members;
using FastPort.Redis.Wire;
using StackExchange.Redis;

namespace FastPort.Redis.Relaying;

/// <summary>
/// The link to one other node. Entries collected while a batch is on its way to Redis form the next batch. The receiver confirms the
/// batches that it has seen; relays and publications are accepted while fewer than <see cref="WindowBytes"/> are unconfirmed.
/// <see cref="_gate"/> guards all fields; nothing else is called under it.
/// </summary>
internal sealed partial class NodeLink
{
    /// <summary>
    /// Bytes on their way to one node: many times the need of a round trip, and a small part of what Redis buffers for a subscriber.
    /// </summary>
    public const int WindowBytes = 1024 * 1024;

    // Maximum bytes of a large answer about peers: a page of sessions, not a single found or closed session.
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

    // Higher than all numbers of an earlier link to the same node, so that its first batch is not mistaken for that link's last one.
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

    /// <param name="transport">The transport that it is a part of.</param>
    /// <param name="instance">The node.</param>
    /// <param name="member">
    /// The known state of the node; null if unknown. If it does not read this node's batches, relays and publications are refused. An
    /// unknown node is assumed to have this version: it ignores batches that it cannot read.
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

    /// <summary>Whether the node reads this node's batches, as far as known.</summary>
    public bool IsCompatible { get; }

    public ulong Instance { get; }

    /// <summary>The node's name, also after it has left.</summary>
    public string Name { get; }

    /// <summary>Bytes that wait to be sent or confirmed.</summary>
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

    /// <summary>The sent totals, and how far the node is behind now.</summary>
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

    /// <summary>Completes when all requested lists of the node are answered. Only for the thread that receives batches.</summary>
    public Task Listing { get; set; } = Task.CompletedTask;

    /// <summary>Whether this batch is a repetition of the last one. Only for the thread that receives batches.</summary>
    public bool IsRepeated(ulong number) => number == _lastReceived;

    /// <summary>
    /// A batch has arrived from the node. False if it is not the next one: others are lost, or the node has restarted its numbers. Only for
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

    /// <summary>Gives up the batches that were sent before a time and are unconfirmed.</summary>
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

    /// <summary>Whether the node accepts no more relays: see <see cref="StopRelays"/>.</summary>
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
