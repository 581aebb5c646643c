using System.Buffers;
using System.Threading.Tasks.Sources;
using FastPort.Framing;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Streams;

/// <summary>The side of a <see cref="ItemReader{TItem}"/> that the session's loop uses.</summary>
internal abstract class ItemReader
{
    /// <summary>The items come from this session. Before its peer can send one.</summary>
    /// <param name="output">Grants are written there.</param>
    /// <param name="correlation">The call's correlation; 0 if it is not known yet.</param>
    /// <param name="of">The value of <see cref="CreditBody.Of"/> for this direction.</param>
    public abstract void Open(FrameOutput output, uint correlation, uint of);

    /// <summary>
    /// Takes an item that has arrived. Returns why the stream must end; null if it continues or has ended already. Loop only, in a burst.
    /// </summary>
    public abstract Exception? Add(in ReadOnlySequence<byte> body);

    /// <summary>No item follows. What has arrived is read first, then the failure. Loop only, in a burst; the first end stays.</summary>
    /// <param name="failure">Null for the end in order.</param>
    public abstract void End(Exception? failure = null);

    /// <summary>The stream is over: items that were not read are dropped. Any thread; an end before it stays.</summary>
    /// <param name="failure">Thrown to the consumer.</param>
    public abstract void Abort(Exception failure);
}

/// <summary>
/// The received items of one direction of a stream, from the loop that parses them to one consumer. At most a window of items waits here:
/// the account refuses more, and credit is granted again when half of the window was consumed. <see cref="_gate"/> guards all fields; no
/// other code is called under it.
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
    private StreamAccount _account;
    private (TItem Item, int Size)[] _items = [];
    private int _head;
    private int _count;
    private int _consumedMessages;
    private long _consumedBytes;
    private bool _enumerated;
    private bool _waits;
    private bool _ended;
    private bool _abandoned;
    private Exception? _failure;
    private ManualResetValueTaskSourceCore<bool> _source;
    private Resumption? _resumption;
    private CancellationTokenRegistration _canceling;

    /// <inheritdoc/>
    public TItem Current { get; private set; } = default!;

    public override void Open(FrameOutput output, uint correlation, uint of)
    {
        _output = output;
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
            if (_abandoned)
            {
                return null;
            }

            Append(item, size);
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
        lock (_gate)
        {
            if (_enumerated)
            {
                throw new InvalidOperationException("The items of a stream can be enumerated once.");
            }

            _enumerated = true;
        }

        _canceling = cancellationToken.UnsafeRegister(
            static (state, token) => ((ItemReader<TItem>)state!).Abandon(new OperationCanceledException(token)), this);
        return this;
    }

    public ValueTask<bool> MoveNextAsync()
    {
        bool isGrantDue;
        CreditBody grant;
        lock (_gate)
        {
            if (_count == 0)
            {
                if (_ended || _abandoned)
                {
                    return _failure is null ? new ValueTask<bool>(false) : ValueTask.FromException<bool>(_failure);
                }

                _source.Reset();
                _waits = true;
                return new ValueTask<bool>(this, _source.Version);
            }

            isGrantDue = Take(out grant);
        }

        if (isGrantDue)
        {
            Grant(grant);
        }

        return new ValueTask<bool>(true);
    }

    /// <summary>The consumer reads no more. What still arrives is dropped, and no credit is granted.</summary>
    public ValueTask DisposeAsync()
    {
        _canceling.Unregister();
        Abandon(failure: null);
        return ValueTask.CompletedTask;
    }

    void IAwaitedStream.Resume()
    {
        bool hasItem, isGrantDue = false;
        CreditBody grant = default;
        Exception? failure;
        lock (_gate)
        {
            hasItem = _count != 0;
            failure = hasItem ? null : _failure;
            if (hasItem)
            {
                isGrantDue = Take(out grant);
            }
        }

        if (isGrantDue)
        {
            Grant(grant);
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
        bool resumes;
        lock (_gate)
        {
            _abandoned = true;
            _failure ??= failure;
            Clear();
            resumes = _waits;
            _waits = false;
        }

        if (resumes)
        {
            (_resumption ??= new Resumption(this)).OnPool();
        }
    }

    // True if a consumer waits, which the caller resumes.
    private bool TryEnd(Exception? failure, bool drops)
    {
        lock (_gate)
        {
            if (_ended)
            {
                if (drops && _count != 0)
                {
                    // All have arrived, but the consumer will not see all.
                    _failure ??= failure;
                    Clear();
                }

                return false;
            }

            _ended = true;
            _failure ??= failure;
            if (drops)
            {
                Clear();
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

    private void Append(TItem item, int size)
    {
        if (_count == _items.Length)
        {
            var larger = new (TItem, int)[Math.Clamp(_count * 2, SmallestCapacity, Math.Max(SmallestCapacity, window.Messages))];
            for (int i = 0; i < _count; i++)
            {
                larger[i] = _items[(_head + i) % _items.Length];
            }

            _items = larger;
            _head = 0;
        }

        int tail = _head + _count;
        _items[tail < _items.Length ? tail : tail - _items.Length] = (item, size);
        _count++;
    }

    // Makes the next item the current one. True if credit is to be granted.
    private bool Take(out CreditBody grant)
    {
        ref (TItem Item, int Size) next = ref _items[_head];
        Current = next.Item;
        _consumedMessages++;
        _consumedBytes += next.Size;
        next = default;
        _head = _head + 1 == _items.Length ? 0 : _head + 1;
        _count--;
        if (_ended || !window.IsGrantDue(_consumedMessages, _consumedBytes))
        {
            grant = default;
            return false;
        }

        grant = new CreditBody(_correlation, (uint)_consumedMessages, (uint)_consumedBytes, _of);
        _account.TryGrant(grant.Messages, grant.Bytes);
        _consumedMessages = 0;
        _consumedBytes = 0;
        return true;
    }

    private void Clear()
    {
        _items = [];
        _head = _count = 0;
    }

    private void Grant(in CreditBody grant) => _output.WriteAndFlush(ControlType.Credit, FrameFlags.OneWay, 0, grant);
}
