using System.Diagnostics.CodeAnalysis;
using System.Threading.Channels;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The changes that wait for the reader of a subscription. Writing never waits: the code that requests messages from the server checks
/// <see cref="IsFull"/> first, and is woken when the reader has caught up. One task writes at a time; any number may read.
/// </summary>
/// <param name="capacity">The number of changes at which the queue is full.</param>
/// <param name="caughtUp">Called on a reader's thread when the queue was seen full and no longer is.</param>
internal sealed class ChangeQueue(int capacity, Action caughtUp) : ChannelReader<DataChange>
{
    private readonly Channel<DataChange> _queue = Channel.CreateUnbounded<DataChange>(new UnboundedChannelOptions { SingleWriter = true });

    // 1 if the queue was seen full since the reader has last caught up.
    private int _wasFull;

    public override Task Completion => _queue.Reader.Completion;

    public override bool CanCount => true;

    public override int Count => _queue.Reader.Count;

    /// <summary>Whether the reader has to catch up first.</summary>
    public bool IsFull
    {
        get
        {
            // Marked before the count is read: a reader that takes a change later sees the mark.
            Interlocked.Exchange(ref _wasFull, 1);
            return Count >= capacity;
        }
    }

    public void Write(in DataChange change) => _queue.Writer.TryWrite(change);

    public void End(Exception? error) => _queue.Writer.TryComplete(error);

    public override bool TryRead([MaybeNullWhen(false)] out DataChange item)
    {
        bool read = _queue.Reader.TryRead(out item);
        if (read && Volatile.Read(ref _wasFull) != 0 && Count < capacity && Interlocked.Exchange(ref _wasFull, 0) != 0)
        {
            caughtUp();
        }

        return read;
    }

    public override ValueTask<bool> WaitToReadAsync(CancellationToken cancellationToken = default) =>
        _queue.Reader.WaitToReadAsync(cancellationToken);
}
