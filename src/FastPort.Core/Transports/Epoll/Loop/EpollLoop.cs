using FastPort.Transports.Epoll.Native;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// One thread with one epoll descriptor. Everything of its connections happens on it, so their input, their protocol and what the loop
/// itself writes need no lock. Other threads reach it through <see cref="Post"/> only.
/// <para>
/// A round: wait; let every ready descriptor be read and handled; run what others have posted; go on with connections that had more to read
/// than their turn allowed; then send what all of this has written. Sending comes last because a send wakes the peer: one that is sent its
/// answers connection by connection handles them one by one and goes back to sleep in between, and on a loaded machine those wake-ups cost
/// more than the sends.
/// </para>
/// <para>Loops are started and stopped by <see cref="EpollLoopGroup"/>.</para>
/// </summary>
internal sealed class EpollLoop
{
    // Its event is nobody's: it only ends the wait.
    private const ulong WakeUp = ulong.MaxValue;

    // Connections that are sent to at the end of a round; a send to a socket takes some microseconds.
    private const int SendsPerRound = 512;

    private readonly int _index;
    private readonly EpollOptions _options;
    private readonly ILogger _logger;
    private readonly int _epoll;

    // Held by a handle: a thread may be about to write to it while the loop ends.
    private readonly SafeFileHandle _wake;
    private readonly EpollEvents _events = new();
    private readonly LoopSlots _slots = new();
    private readonly LoopInbox _inbox = new();
    private readonly LoopWaiting _waiting;
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

        // Edge-triggered: every write to it ends a wait, and its count need never be read.
        if (wake < 0 || !EpollEvents.TryAdd(_epoll, wake, Libc.EpollIn | Libc.EpollEdge, WakeUp))
        {
            var error = Errno.ToException(Errno.Last);
            CloseDescriptors();
            throw error;
        }

        _thread = new Thread(Run) { IsBackground = true, Name = $"FastPort loop {index}" };
        _thread.Start();
    }

    /// <summary>The loop of the present thread; null on any other.</summary>
    [field: ThreadStatic]
    public static EpollLoop? Current { get; private set; }

    /// <summary>Connections bound here; guarded by the group.</summary>
    public int Load { get; set; }

    /// <summary>Whether the loop waits in the kernel. Only a hint: it may be waking up just now.</summary>
    public bool IsAsleep => Volatile.Read(ref _asleep) != 0;

    /// <summary>System calls that have woken the loop.</summary>
    public long WakeUps => Interlocked.Read(ref _wakeUps);

    /// <summary>How often the loop has spun before it slept, or instead.</summary>
    public long Spins => Volatile.Read(ref _spins);

    /// <summary>Hands a task over, from any thread. One system call where the loop sleeps and nobody has woken it yet, else none.</summary>
    public void Post(ILoopTask task)
    {
        // A full fence: either the loop sees the task before it sleeps, or this thread sees it asleep.
        _inbox.Add(task);
        if (Volatile.Read(ref _asleep) != 0 && Interlocked.Exchange(ref _asleep, 0) != 0)
        {
            Wake();
        }
    }

    /// <summary>Ends the thread, after what is posted already. Not from the loop itself where somebody waits for it.</summary>
    public void Stop() => Post(new StopTask(this));

    /// <summary>Watches a descriptor, edge-triggered unless told; on the loop. False where the system refuses.</summary>
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
    /// Watches a descriptor for other events from now on; on any thread that keeps it open. False where the system refuses.
    /// </summary>
    public bool TryWatchFor(int descriptor, uint events, ulong number) => EpollEvents.TryChange(_epoll, descriptor, events, number);

    /// <summary>
    /// No event of this number is delivered any more; on the loop. The descriptor itself leaves with its close, or with
    /// <see cref="Unwatch"/>.
    /// </summary>
    public void Forget(ulong number) => _slots.Remove(number);

    /// <summary>Stops watching a descriptor that stays open; on the loop.</summary>
    public void Unwatch(int descriptor, ulong number)
    {
        EpollEvents.Remove(_epoll, descriptor);
        _slots.Remove(number);
    }

    /// <summary>The connection has bytes to send at the end of this round; on the loop, once until its flush.</summary>
    public void FlushLater(EpollConnection connection) => _written.Enqueue(connection);

    /// <summary>The connection has more to read than its turn allowed; on the loop, once until it goes on.</summary>
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

    // Looks, spins, or sleeps until there is work. Returns the number of descriptors that are ready.
    private int Wait()
    {
        if (!_inbox.IsEmpty || _unfinished.Count != 0 || _written.Count != 0)
        {
            return _events.Wait(_epoll, 0);
        }

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

    // True where there is work: what epoll reports, or what others have posted.
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
            // A handler's own faults never get here; whatever this is, it must not end the connections of others.
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

    // What a flush calls back may write to other connections. After a message to very many, others are read before the rest is sent.
    private void Flush()
    {
        for (int sends = 0; sends < SendsPerRound && _written.TryDequeue(out EpollConnection? connection); sends++)
        {
            connection.FlushNow();
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
            // The loop has ended, and with it everything that could be posted to it.
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
