using System.Threading.Channels;

namespace FastPort.Dashboard.Live;

/// <summary>A page that reads events. The events' bytes are shared by all readers; each has a separate short queue. Thread-safe.</summary>
/// <param name="drop">Called when the queue is full: ends the reader's connection.</param>
internal sealed class EventReader(Action drop)
{
    // Seconds that a reader may be behind, in addition to the connection's buffers.
    private const int MaxWaiting = 8;

    private readonly Channel<byte[]> _waiting = Channel.CreateBounded<byte[]>(MaxWaiting);

    /// <summary>The events; ends when the server stops or the reader was dropped.</summary>
    public IAsyncEnumerable<byte[]> ReadAllAsync(CancellationToken cancellationToken) => _waiting.Reader.ReadAllAsync(cancellationToken);

    /// <summary>Adds an event. False if the reader was too slow and is dropped.</summary>
    public bool TryAdd(byte[] bytes)
    {
        if (_waiting.Writer.TryWrite(bytes))
        {
            return true;
        }

        _waiting.Writer.TryComplete();
        drop();
        return false;
    }

    /// <summary>No event follows.</summary>
    public void Complete() => _waiting.Writer.TryComplete();
}
