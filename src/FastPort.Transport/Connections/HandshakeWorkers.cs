using System.Diagnostics;

namespace FastPort.Connections;

/// <summary>A step before a connection's protocol starts: of the TLS handshake, or after the PROXY header.</summary>
internal interface IHandshakeStep
{
    /// <summary>Runs the step, on a worker.</summary>
    void Run();
}

/// <summary>
/// Runs the steps of handshakes on separate threads, with a bounded concurrency: private keys cost milliseconds of a core, and strangers
/// may begin as many handshakes as they like. Handlers that block every thread of the pool keep no client out, and handshakes take no
/// thread from handlers. An idle thread ends after a while, so the workers need no disposal. Thread-safe.
/// </summary>
/// <param name="limit">Steps at a time, 1 or more.</param>
internal sealed class HandshakeWorkers(int limit)
{
    private static readonly TimeSpan LongestIdle = TimeSpan.FromSeconds(10);

    [ThreadStatic]
    private static bool _isWorker;

    // Guards everything below. No Lock: threads wait for it to be pulsed.
    private readonly object _gate = new();
    private readonly Queue<IHandshakeStep> _waiting = new();
    private int _threads;
    private int _idle;

    /// <summary>For clients of this process, which decide themselves how often they connect.</summary>
    public static HandshakeWorkers Clients { get; } = new(Math.Max(2, Environment.ProcessorCount));

    /// <summary>Whether the calling thread runs a step.</summary>
    public static bool IsWorker => _isWorker;

    /// <summary>Runs a step as soon as a thread has time. Steps begin in the order of the calls.</summary>
    /// <exception cref="OutOfMemoryException">The system starts no thread, and none runs yet; the step is not run.</exception>
    public void Add(IHandshakeStep step)
    {
        lock (_gate)
        {
            _waiting.Enqueue(step);
            if (_idle >= _waiting.Count)
            {
                Monitor.Pulse(_gate);
                return;
            }

            if (_threads < limit)
            {
                Start();
            }
        }
    }

    // Under the gate.
    private void Start()
    {
        Debug.Assert(Monitor.IsEntered(_gate));
        try
        {
            new Thread(Run) { IsBackground = true, Name = "FastPort handshakes" }.UnsafeStart();
            _threads++;
        }
        catch (OutOfMemoryException) when (_threads != 0)
        {
            // The running threads take the step.
        }
        catch (OutOfMemoryException)
        {
            _waiting.Clear();
            throw;
        }
    }

    private void Run()
    {
        _isWorker = true;
        while (Take() is { } step)
        {
            step.Run();
            NoContext.Restore();
        }
    }

    // Null after LongestIdle without a step: the thread ends.
    private IHandshakeStep? Take()
    {
        lock (_gate)
        {
            while (_waiting.Count == 0)
            {
                _idle++;
                bool isPulsed = Monitor.Wait(_gate, LongestIdle);
                _idle--;
                if (!isPulsed && _waiting.Count == 0)
                {
                    _threads--;
                    return null;
                }
            }

            return _waiting.Dequeue();
        }
    }
}
