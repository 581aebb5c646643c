using System.Collections.Concurrent;

namespace FastPort.Transports.Sockets;

/// <summary>
/// The flushes of connections whose burst has ended, made one after the other once the thread has offered all ready input.
/// <para>
/// A send wakes the peer. Sending after each connection's burst lets the peer answer that one burst at once, go back to sleep and be woken
/// again for the next: on a loaded server the wake-ups cost more than the sends. Gathered sends find the peer awake. The queue is drained
/// by a work item that the pool runs as soon as the thread's current work is done (on another thread where sockets complete inline), never
/// by a timer.
/// </para>
/// </summary>
internal sealed class FlushQueue : IThreadPoolWorkItem
{
    /// <summary>The process's queue: connections of all servers and clients share the pool's threads too.</summary>
    public static readonly FlushQueue Shared = new();

    private readonly ConcurrentQueue<SocketOutput> _waiting = new();
    private int _scheduled;

    /// <summary>Queues an output to be flushed soon. The caller makes sure that an output is queued at most once.</summary>
    public void Add(SocketOutput output)
    {
        _waiting.Enqueue(output);
        if (Interlocked.Exchange(ref _scheduled, 1) == 0)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        // Cleared before the check: an output added from here on is either seen below or schedules the next run.
        Interlocked.Exchange(ref _scheduled, 0);
        while (_waiting.TryDequeue(out SocketOutput? output))
        {
            output.FlushQueued();
        }
    }
}
