using System.Buffers;
using System.Threading.Tasks.Sources;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Streams;

/// <summary>The side of a <see cref="ItemReader{TItem}"/> that the session's loop uses.</summary>
internal abstract class ItemReader
{
    /// <summary>The items come from this session. Before its peer can send one.</summary>
    /// <param name="output">Grants are written there.</param>
    /// <param name="memory">The budget that waiting items count in.</param>
    /// <param name="correlation">The call's correlation; 0 if it is not known yet.</param>
    /// <param name="of">The value of <see cref="CreditBody.Of"/> for this direction.</param>
    public abstract void Open(FrameOutput output, MemoryBudget memory, uint correlation, uint of);

    /// <summary>
    /// Takes an item that has arrived. Returns why the stream must end; null if it continues or has ended already. Loop only, in a burst.
    /// </summary>
    public abstract Exception? Add(in ReadOnlySequence<byte> body);

    /// <summary>
    /// The peer sends no more items. The consumer reads the items that have arrived, then gets the failure. Loop only, in a burst; the
    /// first end stays.
    /// </summary>
    /// <param name="failure">Null for the end in order.</param>
    public abstract void End(Exception? failure = null);

    /// <summary>The stream is over: items that were not read are dropped. Any thread; an end before it stays.</summary>
    /// <param name="failure">Thrown to the consumer.</param>
    public abstract void Abort(Exception failure);
}

/// <summary>
/// The received items of one direction of a stream, from the loop that parses them to one consumer. At most a window of items waits here:
/// the account refuses more, and credit is granted again when half of the window was consumed.
/// <para>
/// The loop appends under <see cref="_gate"/>. The consumer takes all that wait at once, by exchanging the arrays, and reads them without
/// the lock. No other code is called under it.
/// </para>
/// </summary>
/// <param name="parse">Reads an item on the loop.</param>
/// <param name="window">The window, which the peer has been granted.</param>
/// <param name="continuesOnLoop">Whether a waiting consumer continues on the loop; otherwise on the pool.</param>
internal sealed class ItemReader<TItem>(ItemParser<TItem> parse, StreamWindow window, bool continuesOnLoop)
    : ItemReader, IAsyncEnumerable<TItem>, IAsyncEnumerator<TItem>, IValueTaskSource<bool>, IAwaitedStream
{
    private const int SmallestCapacity = 4;

    private readonly Lock _gate = new();
    private FrameOutput _output = null!;
    private uint _correlation;
    private uint _of;
    private int _enumerated;
    private CancellationTokenRegistration _canceling;

    // Guarded by the gate.
    private StreamAccount _account;
    private (TItem Item, int Size)[] _items = [];
    private int _count;
    private long _bytes;
    private bool _consumerHasItems;
    private long _consumersBytes;
    private StreamMemory _memory;
    private bool _waits;
    private bool _ended;
    private Exception? _failure;
    private ManualResetValueTaskSourceCore<bool> _source;
    private Resumption? _resumption;

    // Whether the consumer gets no more items. Written under the gate.
    private volatile bool _drops;

    // The consumer's.
    private (TItem Item, int Size)[] _taken = [];
    private int _takenCount;
    private int _next;
    private int _consumedMessages;
    private long _consumedBytes;

    /// <inheritdoc/>
    public TItem Current { get; private set; } = default!;

    public override void Open(FrameOutput output, MemoryBudget memory, uint correlation, uint of)
    {
        _output = output;
        _memory = new StreamMemory(memory);
        _correlation = correlation;
        _of = of;
        _account = default;
        _account.TryGrant((uint)window.Messages, (uint)window.Bytes);
    }

    /// <summary>The call's correlation, if it was not known before. Before the first item is consumed.</summary>
    public void Correlate(uint correlation) => _correlation = correlation;

    public override Exception? Add(in ReadOnlySequence<byte> body)
    {
        TItem item = default!;
        Exception? failure = null;
        try
        {
            item = parse(in body);
        }
        catch (Exception e)
        {
            failure = e;
        }

        int size = (int)body.Length;
        lock (_gate)
        {
            if (_ended)
            {
                return null;
            }

            if (!_account.TryTake(size))
            {
                return new StreamViolationException(ErrorCode.Overloaded, "An item was sent without credit.");
            }

            if (failure is not null)
            {
                return failure;
            }

            _output.Streams.Received();
            if (_drops)
            {
                return null;
            }

            if (!_memory.TryHold(_consumersBytes + _bytes + size))
            {
                return new StreamViolationException(
                    ErrorCode.Overloaded, "The receiver is short of memory, and the stream's items wait for their reader.");
            }

            _bytes += size;
            if (_count == _items.Length)
            {
                Array.Resize(ref _items, Math.Min(Math.Max(_count * 2, SmallestCapacity), Math.Max(window.Messages, SmallestCapacity)));
            }

            _items[_count++] = (item, size);
            if (!_waits)
            {
                return null;
            }

            _waits = false;
        }

        ResumeInBurst();
        return null;
    }

    public override void End(Exception? failure = null)
    {
        if (TryEnd(failure, drops: false))
        {
            ResumeInBurst();
        }
    }

    public override void Abort(Exception failure)
    {
        if (TryEnd(failure, drops: true))
        {
            (_resumption ??= new Resumption(this)).OnPool();
        }
    }

    public IAsyncEnumerator<TItem> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        if (Interlocked.Exchange(ref _enumerated, 1) != 0)
        {
            throw new InvalidOperationException("The items of a stream can be enumerated once.");
        }

        _canceling = cancellationToken.UnsafeRegister(
            static (state, token) => ((ItemReader<TItem>)state!).Abandon(new OperationCanceledException(token)), this);
        return this;
    }

    public ValueTask<bool> MoveNextAsync()
    {
        if (_next == _takenCount || _drops)
        {
            lock (_gate)
            {
                if (!TryTakeAll())
                {
                    if (_ended || _drops)
                    {
                        return _failure is null ? new ValueTask<bool>(false) : ValueTask.FromException<bool>(_failure);
                    }

                    _source.Reset();
                    _waits = true;
                    return new ValueTask<bool>(this, _source.Version);
                }
            }
        }

        Step();
        return new ValueTask<bool>(true);
    }

    /// <summary>The consumer reads no more. What still arrives is dropped, and no credit is granted.</summary>
    public ValueTask DisposeAsync()
    {
        _canceling.Unregister();
        Abandon(failure: null);
        _taken = [];
        _next = _takenCount = 0;
        return ValueTask.CompletedTask;
    }

    void IAwaitedStream.Resume()
    {
        bool hasItem;
        Exception? failure;
        lock (_gate)
        {
            hasItem = TryTakeAll();
            failure = hasItem ? null : _failure;
        }

        if (hasItem)
        {
            Step();
        }

        if (failure is null)
        {
            _source.SetResult(hasItem);
        }
        else
        {
            _source.SetException(failure);
        }
    }

    bool IValueTaskSource<bool>.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<bool>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _source.OnCompleted(continuation, state, token, flags);

    private void Abandon(Exception? failure)
    {
        lock (_gate)
        {
            _failure ??= failure;
            Drop();
            if (!_waits)
            {
                return;
            }

            _waits = false;
        }

        (_resumption ??= new Resumption(this)).OnPool();
    }

    // True if a consumer waits, which the caller resumes.
    private bool TryEnd(Exception? failure, bool drops)
    {
        lock (_gate)
        {
            // All items have come before, but the consumer does not see all.
            bool isCut = _ended && drops && (_count != 0 || _consumerHasItems);
            if (!_ended || isCut)
            {
                _failure ??= failure;
            }

            _ended = true;
            if (drops)
            {
                Drop();
            }

            bool resumes = _waits;
            _waits = false;
            return resumes;
        }
    }

    private void ResumeInBurst()
    {
        if (continuesOnLoop)
        {
            ((IAwaitedStream)this).Resume();
        }
        else
        {
            (_resumption ??= new Resumption(this)).InBurst();
        }
    }

    // With the gate, by the consumer, which has read what it had taken. False if none waits.
    private bool TryTakeAll()
    {
        if (_drops)
        {
            _taken = [];
        }

        (_items, _taken) = (_taken, _items);
        _takenCount = _count;
        _next = _count = 0;
        _consumerHasItems = _takenCount != 0;

        // What was taken before has been consumed.
        (_consumersBytes, _bytes) = (_bytes, 0);
        _memory.TryHold(_consumersBytes);
        return _consumerHasItems;
    }

    private void Drop()
    {
        _drops = true;
        _items = [];
        _count = 0;
        _bytes = _consumersBytes = 0;
        _memory.TryHold(0);
    }

    // Makes the next item the current one.
    private void Step()
    {
        ref (TItem Item, int Size) next = ref _taken[_next++];
        Current = next.Item;
        _consumedMessages++;
        _consumedBytes += next.Size;
        next = default;
        if (window.IsGrantDue(_consumedMessages, _consumedBytes))
        {
            Grant();
        }
    }

    private void Grant()
    {
        var grant = new CreditBody(_correlation, (uint)_consumedMessages, (uint)_consumedBytes, _of);
        _consumedMessages = 0;
        _consumedBytes = 0;
        lock (_gate)
        {
            if (_ended)
            {
                return;
            }

            _account.TryGrant(grant.Messages, grant.Bytes);
        }

        _output.WriteAndFlush(ControlType.Credit, FrameFlags.OneWay, 0, grant);
    }
}
