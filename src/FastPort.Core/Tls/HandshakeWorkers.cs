using System.Collections.Concurrent;

namespace FastPort.Tls;

/// <summary>
/// Runs the steps of handshakes on the thread pool, at most so many at a time: private keys cost milliseconds of a core, and strangers may
/// begin as many handshakes as they like. Thread-safe.
/// </summary>
/// <param name="limit">Steps at a time, 1 or more.</param>
internal sealed class HandshakeWorkers(int limit) : IThreadPoolWorkItem
{
    [ThreadStatic]
    private static bool _isWorker;

    private readonly ConcurrentQueue<RecordStream> _waiting = new();
    private int _running;

    /// <summary>For clients of this process, which decide themselves how often they connect.</summary>
    public static HandshakeWorkers Clients { get; } = new(Math.Max(2, Environment.ProcessorCount));

    /// <summary>Whether the calling thread runs a step of a handshake.</summary>
    public static bool IsWorker => _isWorker;

    /// <summary>The workers of a server.</summary>
    public static HandshakeWorkers For(TlsServerOptions options) =>
        new(options.MaxConcurrentHandshakes != 0 ? options.MaxConcurrentHandshakes : Math.Max(1, Environment.ProcessorCount / 2));

    /// <summary>Lets a handshake go on that has waited for its peer's bytes.</summary>
    public void Add(RecordStream records)
    {
        _waiting.Enqueue(records);
        TryRunOne();
    }

    void IThreadPoolWorkItem.Execute()
    {
        // One step a turn: the pool has other work.
        if (_waiting.TryDequeue(out RecordStream? records))
        {
            _isWorker = true;
            try
            {
                records.FinishRead();
            }
            finally
            {
                _isWorker = false;
            }
        }

        Interlocked.Decrement(ref _running);
        if (!_waiting.IsEmpty)
        {
            TryRunOne();
        }
    }

    private void TryRunOne()
    {
        int running = Volatile.Read(ref _running);
        while (running < limit)
        {
            int seen = Interlocked.CompareExchange(ref _running, running + 1, running);
            if (seen == running)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }

            running = seen;
        }
    }
}
