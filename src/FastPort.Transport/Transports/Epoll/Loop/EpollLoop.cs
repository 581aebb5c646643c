using FastPort.Transports.Epoll.Native;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// One thread with one epoll descriptor. The thread reads its connections and runs their protocols, so their input, their protocol state
/// and the loop's own writes need no lock. Other threads pass tasks to the loop through <see cref="Post"/> only.
/// <para>
/// A round: wait; read and handle every ready descriptor; run the posted tasks, those of connections that had more to read than their turn
/// allowed among them; then send what all of this has written. Sending comes last because a send wakes the peer: a peer that receives its
/// answers connection by connection handles them one by one and sleeps in between, and on a loaded machine those wake-ups cost more than
/// the sends.
/// </para>
/// <para><see cref="EpollLoopGroup"/> starts and stops the loops.</para>
/// </summary>
internal sealed class EpollLoop
{
    // The most connections flushed at the end of a round; a send to a socket takes some microseconds.
    private const int SendsPerRound = 512;

    private readonly int _index;
    private readonly EpollOptions _options;
    private readonly ILogger _logger;
    private readonly int _epoll;

    // In a safe handle: another thread may be about to write to the descriptor while the loop ends.
    private readonly SafeFileHandle _wake;
    private readonly EpollEvents _events = new();

    // Watched descriptors. A descriptor is closed while its events of the same round may still come, but its number is watched again only
    // by a task, after all of them. Only while a child process is being started, which still holds a closed descriptor, may later events
    // reach the number's next owner: each handler tolerates events that are not its own. The wake-up descriptor has no handler: its event
    // only ends the wait.
    private readonly Dictionary<int, ILoopHandler> _handlers = [];
    private readonly LoopInbox _inbox = new();
    private readonly LoopWaiting _waiting;
    private readonly Func<bool> _look;
    private readonly LoopIdleTime _idle = new();

    // Written by the loop, read by any thread: that it grows is what counts.
    private long _rounds;
    private readonly Thread _thread;
    private readonly Queue<EpollConnection> _written = new();
    private int _asleep;
    private long _wakeUps;
    private int _found;
    private volatile bool _stopped;

    public EpollLoop(int index, EpollOptions options, ILogger logger)
    {
        _index = index;
        _options = options;
        _logger = logger;
        _waiting = new LoopWaiting(options.SpinMicroseconds);
        _look = Look;
        _epoll = Libc.EpollCreate(Libc.CloseOnExec);
        int wake = _epoll < 0 ? -1 : Libc.EventDescriptor(0, Libc.NonBlocking | Libc.CloseOnExec);
        _wake = new SafeFileHandle(wake, ownsHandle: true);
        _thread = new Thread(Run) { IsBackground = true, Name = $"FastPort loop {index}" };
        try
        {
            // Edge-triggered: every write to it ends a wait, and its counter is never read.
            if (wake < 0 || !EpollEvents.Control(_epoll, Libc.EpollCtlAdd, wake, Libc.EpollIn | Libc.EpollEdge))
            {
                throw Errno.ToException(Errno.Last);
            }

            _thread.UnsafeStart();
        }
        catch
        {
            CloseDescriptors();
            _events.Dispose();
            throw;
        }
    }

    /// <summary>The loop of the current thread; null on any other thread.</summary>
    [field: ThreadStatic]
    public static EpollLoop? Current { get; private set; }

    /// <summary>Users of this loop (connections, listeners, connects under way); guarded by the group.</summary>
    public int Load { get; set; }

    /// <summary>Whether the loop waits in the kernel. Only a hint: the loop may be waking up.</summary>
    public bool IsAsleep => Volatile.Read(ref _asleep) != 0;

    /// <summary>System calls that have woken the loop.</summary>
    public long WakeUps => Interlocked.Read(ref _wakeUps);

    /// <summary>How often the loop has spun before or instead of sleeping.</summary>
    public long Spins => _waiting.Spins;

    /// <summary>How long the loop has had nothing to do since it started, in nanoseconds, and how often it has looked for work.</summary>
    public (long IdleNanoseconds, long Rounds) Progress => (_idle.Nanoseconds, Volatile.Read(ref _rounds));

    /// <summary>
    /// Posts a task, from any thread. One system call when the loop sleeps and no other thread has woken it yet, else none.
    /// </summary>
    public void Post(ILoopTask task)
    {
        // Add is a full fence: either the loop sees the task before it sleeps, or this thread sees that the loop sleeps.
        _inbox.Add(task);
        if (Volatile.Read(ref _asleep) != 0 && Interlocked.Exchange(ref _asleep, 0) != 0)
        {
            Wake();
        }
    }

    /// <summary>Posts an action, from any thread, in order with the tasks.</summary>
    public void Run(Action action) => Post(new ActionTask(action));

    /// <summary>Ends the thread after the already posted tasks. Does not wait for the thread's end.</summary>
    public void Stop() => Run(() => _stopped = true);

    /// <summary>Watches a descriptor for the given events; in a task on the loop. False when the system refuses.</summary>
    public bool TryWatch(int descriptor, uint events, ILoopHandler handler)
    {
        if (!EpollEvents.Control(_epoll, Libc.EpollCtlAdd, descriptor, events))
        {
            return false;
        }

        _handlers[descriptor] = handler;
        return true;
    }

    /// <summary>
    /// Changes the events that a descriptor is watched for; on any thread, while the descriptor is open. False when the system refuses.
    /// </summary>
    public bool TryWatchFor(int descriptor, uint events) => EpollEvents.Control(_epoll, Libc.EpollCtlMod, descriptor, events);

    /// <summary>
    /// Stops delivering events of a descriptor; on the loop. The descriptor itself leaves epoll when it is closed, or with
    /// <see cref="Unwatch"/>.
    /// </summary>
    public void Forget(int descriptor) => _handlers.Remove(descriptor);

    /// <summary>Stops watching a descriptor that stays open; on the loop.</summary>
    public void Unwatch(int descriptor)
    {
        _ = EpollEvents.Control(_epoll, Libc.EpollCtlDel, descriptor);
        Forget(descriptor);
    }

    /// <summary>Flushes the connection at the end of this round; on the loop, at most once until that flush.</summary>
    public void FlushLater(EpollConnection connection) => _written.Enqueue(connection);

    private void Run()
    {
        Current = this;
        if (_options.PinLoops)
        {
            Cores.PinCurrentThread(_index);
        }

        while (!_stopped)
        {
            int count = Wait();
            _rounds++;
            for (int i = 0; i < count; i++)
            {
                _events.Read(i, out uint events, out int descriptor);
                if (_handlers.TryGetValue(descriptor, out ILoopHandler? handler))
                {
                    Ready(handler, events);
                }
            }

            _inbox.RunAll();
            Flush();
        }

        CloseDescriptors();
        _events.Dispose();
    }

    // Polls, spins, or sleeps until there is work. Returns the number of descriptors that are ready.
    private int Wait()
    {
        if (!_inbox.IsEmpty || _written.Count != 0)
        {
            return _events.Wait(_epoll, 0);
        }

        // Only a loop without work comes here: no message waits for these two readings of the clock.
        _idle.Begin();
        int count = WaitIdle();
        _idle.End();
        return count;
    }

    // Spins or sleeps until there is work.
    private int WaitIdle()
    {
        if (!_waiting.Spin(_look))
        {
            // A full fence: see Post.
            Interlocked.Exchange(ref _asleep, 1);
            _found = _events.Wait(_epoll, _inbox.IsEmpty ? -1 : 0);
            Volatile.Write(ref _asleep, 0);
        }

        _waiting.Woken();
        return _found;
    }

    // True when there is work: epoll reports an event or a task is posted.
    private bool Look()
    {
        _found = _events.Wait(_epoll, 0);
        return _found != 0 || !_inbox.IsEmpty;
    }

    private void Ready(ILoopHandler handler, uint events)
    {
        try
        {
            handler.OnReady(events);
        }
        catch (Exception e)
        {
            // Handlers catch their own faults. Any other exception must not end the connections of other handlers.
            TransportLog.LoopFault(_logger, _index, e);
        }
    }

    // Callbacks of a flush may write to other connections. The limit makes the loop read again before it sends the rest.
    private void Flush()
    {
        for (int sends = 0; sends < SendsPerRound && _written.TryDequeue(out EpollConnection? connection); sends++)
        {
            connection.FlushRound();
        }
    }

    private unsafe void Wake()
    {
        Interlocked.Increment(ref _wakeUps);
        long one = 1;
        try
        {
            Libc.Write(_wake, &one, sizeof(long));
        }
        catch (ObjectDisposedException)
        {
            // The loop has ended and runs no more tasks.
        }
    }

    private void CloseDescriptors()
    {
        _wake.Dispose();
        if (_epoll >= 0)
        {
            _ = Libc.Close(_epoll);
        }
    }

    private sealed class ActionTask(Action action) : ILoopTask
    {
        public ILoopTask? Next { get; set; }

        public void RunOnLoop() => action();
    }
}
