using System.Buffers;
using FastPort.Framing;

namespace FastPort.Sessions.Streams;

/// <summary>
/// A call whose replies are a stream. The call begins with the first item that is asked for, and ends at the latest when the enumerator
/// is disposed. Enumerated once, by one consumer.
/// </summary>
internal sealed class ReplyStream<TItem>(StreamStart start, ItemParser<TItem> parse)
    : StreamReply(start), IAsyncEnumerable<TItem>, IAsyncEnumerator<TItem>
{
    // Values of _stage: a call is open until its reader leaves, which may do so while the call is being opened.
    private const int New = 0;
    private const int Opened = 1;
    private const int Left = 2;

    private ItemReader<TItem>? _reader;
    private CancellationToken _canceled;
    private int _enumerated;
    private int _stage;
    private bool _isOver;

    /// <inheritdoc/>
    public TItem Current => _reader is null ? default! : _reader.Current;

    public IAsyncEnumerator<TItem> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        if (Interlocked.Exchange(ref _enumerated, 1) != 0)
        {
            throw new InvalidOperationException("A stream can be enumerated once; make another call.");
        }

        _canceled = cancellationToken == Start.Canceled ? default : cancellationToken;
        return this;
    }

    public ValueTask<bool> MoveNextAsync() =>
        Volatile.Read(ref _stage) == Opened ? _reader!.MoveNextAsync() : _isOver ? new ValueTask<bool>(false) : OpenAndMoveAsync();

    public ValueTask DisposeAsync()
    {
        _isOver = true;
        if (Interlocked.Exchange(ref _stage, Left) == Opened)
        {
            Leave();
        }

        return ValueTask.CompletedTask;
    }

    protected override bool IsLeft => Volatile.Read(ref _stage) == Left;

    public override Exception? OnItem(in ReadOnlySequence<byte> body) => _reader!.Add(in body);

    protected override CreditBody Prepare(Session session)
    {
        SessionSettings settings = session.Protocol.Settings;
        var window = new StreamWindow(settings.Options);
        _reader = new ItemReader<TItem>(parse, window, settings.ContinuesOnLoop);
        _reader.Open(session.Protocol.Output, settings.Memory, correlation: 0, CreditOf.ReplyItems);
        return window.Grant(correlation: 0, CreditOf.Opening);
    }

    protected override void OnOpened() => _reader!.Correlate(Correlation);

    protected override Exception? OnLast(in ReadOnlySequence<byte> body) => body.IsEmpty
        ? null
        : new RequestFailedException(ErrorCode.MalformedBody, "The peer ended a stream of replies with a body.");

    protected override void OnEnded(Exception? failure, bool inBurst)
    {
        if (inBurst)
        {
            _reader!.End(failure);
        }
        else
        {
            _reader!.Abort(failure!);
        }
    }

    // As an iterator: a call that could not be opened is over.
    private async ValueTask<bool> OpenAndMoveAsync()
    {
        _isOver = true;
        await OpenAsync(_canceled).ConfigureAwait(false);
        if (Interlocked.CompareExchange(ref _stage, Opened, New) == Left)
        {
            Leave();
        }

        return await _reader!.MoveNextAsync().ConfigureAwait(false);
    }

    private void Leave()
    {
        Unregister();
        Cancel();

        // Drops the items that the consumer has not read.
        _reader!.Abort(new OperationCanceledException());
    }
}
