using FastPort.Transports.Epoll.Native;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// One thread with one epoll descriptor. The thread reads its connections and runs their protocols, so their input, their protocol state
/// and the loop's own writes need no lock. Other threads pass tasks to the loop through <see cref="Post"/> only.
/// <para>
/// A round: wait; read and handle every ready descriptor; run the posted tasks; continue with connections that had more to read than their
/// turn allowed; then send what all of this has written. Sending comes last because a send wakes the peer: a peer that receives its answers
/// connection by connection handles them one by one and sleeps in between, and on a loaded machine those wake-ups cost more than the sends.
/// </para>
/// <para><see cref="EpollLoopGroup"/> starts and stops the loops.</para>
/// </summary>
internal sealed class EpollLoop
{
    // The number of the wake-up descriptor: its event has no handler and only ends the wait.
    private const ulong WakeUp = ulong.MaxValue;

    // The most connections flushed at the end of a round; a send to a socket takes some microseconds.
    private const int SendsPerRound = 512;

    private readonly int _index;
    private readonly EpollOptions _options;
    private readonly ILogger _logger;
    private readonly int _epoll;

    // In a safe handle: another thread may be about to write to the descriptor while the loop ends.
    private readonly SafeFileHandle _wake;
    private readonly EpollEvents _events = new();
    private readonly LoopSlots _slots = new();
    private readonly LoopInbox _inbox = new();
    private readonly LoopWaiting _waiting;
    private readonly LoopIdleTime _idle = new();

    // Written by the loop, read by any thread: that it grows is what counts.
    private long _rounds;
    private readonly Thread _thread;
    private readonly Queue<EpollConnection> _written = new();
    private List<EpollConnection> _unfinished = [];
    private List<EpollConnection> _continuing = [];
    private int _asleep;
    private long _wakeUps;
    private long _spins;
    private volatile bool _stopped;

    public EpollLoop(int index, EpollOptions options, ILogger logger)
    {
        _index = index;
        _options = options;
        _logger = logger;
        _waiting = new LoopWaiting(options.SpinMicroseconds);
        _epoll = Libc.EpollCreate(Libc.CloseOnExec);
        int wake = _epoll < 0 ? -1 : Libc.EventDescriptor(0, Libc.NonBlocking | Libc.CloseOnExec);
        _wake = new SafeFileHandle(wake, ownsHandle: true);
        _thread = new Thread(Run) { IsBackground = true, Name = $"FastPort loop {index}" };
        try
        {
            // Edge-triggered: every write to it ends a wait, and its counter is never read.
            if (wake < 0 || !EpollEvents.TryAdd(_epoll, wake, Libc.EpollIn | Libc.EpollEdge, WakeUp))
            {
                throw Errno.ToException(Errno.Last);
            }

            _thread.Start();
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
    public long Spins => Volatile.Read(ref _spins);

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

    /// <summary>Ends the thread after the tasks that are posted already. Does not wait for the thread's end.</summary>
    public void Stop() => Post(new StopTask(this));

    /// <summary>Watches a descriptor for the given events; on the loop. False when the system refuses.</summary>
    public bool TryWatch(int descriptor, uint events, ILoopHandler handler, out ulong number)
    {
        number = _slots.Add(handler);
        if (EpollEvents.TryAdd(_epoll, descriptor, events, number))
        {
            return true;
        }

        _slots.Remove(number);
        return false;
    }

    /// <summary>
    /// Changes the events that a descriptor is watched for; on any thread, while the descriptor is open. False when the system refuses.
    /// </summary>
    public bool TryWatchFor(int descriptor, uint events, ulong number) => EpollEvents.TryChange(_epoll, descriptor, events, number);

    /// <summary>
    /// Stops delivering events of this number; on the loop. The descriptor itself leaves epoll when it is closed, or with
    /// <see cref="Unwatch"/>.
    /// </summary>
    public void Forget(ulong number) => _slots.Remove(number);

    /// <summary>Stops watching a descriptor that stays open; on the loop.</summary>
    public void Unwatch(int descriptor, ulong number)
    {
        EpollEvents.Remove(_epoll, descriptor);
        _slots.Remove(number);
    }

    /// <summary>Flushes the connection at the end of this round; on the loop, at most once until that flush.</summary>
    public void FlushLater(EpollConnection connection) => _written.Enqueue(connection);

    /// <summary>Lets the connection read on after the ready descriptors and posted tasks; on the loop, at most once until then.</summary>
    public void ContinueLater(EpollConnection connection) => _unfinished.Add(connection);

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
                _events.Read(i, out uint events, out ulong number);
                Ready(number == WakeUp ? null : _slots.Find(number), events);
            }

            _inbox.RunAll();
            Continue();
            Flush();
        }

        CloseDescriptors();
        _events.Dispose();
    }

    // Polls, spins, or sleeps until there is work. Returns the number of descriptors that are ready.
    private int Wait()
    {
        if (!_inbox.IsEmpty || _unfinished.Count != 0 || _written.Count != 0)
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
        if (_waiting.TryBegin())
        {
            bool hasWork = Spin(out int found);
            _waiting.EndSpin();
            if (hasWork)
            {
                _waiting.Woken();
                return found;
            }
        }

        // A full fence: see Post.
        Interlocked.Exchange(ref _asleep, 1);
        int count = _events.Wait(_epoll, _inbox.IsEmpty ? -1 : 0);
        Volatile.Write(ref _asleep, 0);
        _waiting.Woken();
        return count;
    }

    // True when there is work: epoll reports an event or a task is posted.
    private bool Spin(out int found)
    {
        _spins++;
        do
        {
            found = _events.Wait(_epoll, 0);
            if (found != 0 || !_inbox.IsEmpty)
            {
                return true;
            }
        }
        while (_waiting.GoOn());
        return false;
    }

    private void Ready(ILoopHandler? handler, uint events)
    {
        try
        {
            handler?.OnReady(events);
        }
        catch (Exception e)
        {
            // Handlers catch their own faults. Any other exception must not end the connections of other handlers.
            TransportLog.LoopFault(_logger, _index, e);
        }
    }

    private void Continue()
    {
        if (_unfinished.Count == 0)
        {
            return;
        }

        (_continuing, _unfinished) = (_unfinished, _continuing);
        foreach (EpollConnection connection in _continuing)
        {
            connection.Continue();
        }

        _continuing.Clear();
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
        bool held = false;
        try
        {
            _wake.DangerousAddRef(ref held);
            Interlocked.Increment(ref _wakeUps);
            long one = 1;
            Libc.Write((int)_wake.DangerousGetHandle(), &one, sizeof(long));
        }
        catch (ObjectDisposedException)
        {
            // The loop has ended and runs no more tasks.
        }
        finally
        {
            if (held)
            {
                _wake.DangerousRelease();
            }
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

    private sealed class StopTask(EpollLoop loop) : ILoopTask
    {
        public ILoopTask? Next { get; set; }

        public void RunOnLoop() => loop._stopped = true;
    }
}
