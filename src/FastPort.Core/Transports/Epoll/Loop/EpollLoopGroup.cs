using Microsoft.Extensions.Logging;

namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// The loops of one transport: the main ones, and one for newcomers, the connections that a server has accepted and whose peers it does not
/// know yet. What strangers cost delays other strangers, and no session. The loops start with the first user (a listener, a connection, a
/// connect under way) and end with the last one, so a stopped server leaves no thread running. Thread-safe.
/// </summary>
internal sealed class EpollLoopGroup(EpollOptions options)
{
    private const int Newcomers = -1;

    // Guards everything below, and the loops' Load.
    private readonly Lock _gate = new();
    private EpollLoop[] _loops = [];
    private EpollLoop? _newcomers;
    private int _users;
    private int _next;

    /// <summary>Acquires the main loop with the fewest users; the caller releases it with <see cref="Release"/>.</summary>
    /// <param name="logger">Logs the loops' own faults if this call starts the loops.</param>
    /// <exception cref="System.Net.Sockets.SocketException">The system has no descriptors for the loops.</exception>
    public EpollLoop Acquire(ILogger logger)
    {
        lock (_gate)
        {
            StartIfIdle(logger);

            // Equally loaded loops are chosen in turn, so that short connections are not all bound to the first loop.
            EpollLoop chosen = _loops[_next];
            for (int i = 1; i < _loops.Length; i++)
            {
                EpollLoop candidate = _loops[(_next + i) % _loops.Length];
                if (candidate.Load < chosen.Load)
                {
                    chosen = candidate;
                }
            }

            _next = (_next + 1) % _loops.Length;
            _users++;
            chosen.Load++;
            return chosen;
        }
    }

    /// <summary>Acquires the loop for accepting and for what was accepted. Otherwise as <see cref="Acquire"/>.</summary>
    /// <inheritdoc cref="Acquire"/>
    public EpollLoop AcquireForNewcomers(ILogger logger)
    {
        lock (_gate)
        {
            StartIfIdle(logger);
            try
            {
                _newcomers ??= new EpollLoop(Newcomers, options, logger);
            }
            catch when (_users == 0)
            {
                StopAll();
                throw;
            }

            _users++;
            _newcomers.Load++;
            return _newcomers;
        }
    }

    /// <summary><see cref="EpollLoop.Progress"/> of each main loop; empty while no loop runs.</summary>
    public IReadOnlyList<(long IdleNanoseconds, long Rounds)> ReadProgress()
    {
        lock (_gate)
        {
            return [.. _loops.Select(static loop => loop.Progress)];
        }
    }

    public void Release(EpollLoop loop)
    {
        lock (_gate)
        {
            loop.Load--;
            if (--_users == 0)
            {
                StopAll();
            }
        }
    }

    // Waits for no thread.
    private void StopAll()
    {
        foreach (EpollLoop each in _loops)
        {
            each.Stop();
        }

        _newcomers?.Stop();
        _loops = [];
        _newcomers = null;
        _next = 0;
    }

    private void StartIfIdle(ILogger logger)
    {
        if (_users == 0)
        {
            _loops = Start(logger);
        }
    }

    private EpollLoop[] Start(ILogger logger)
    {
        var loops = new EpollLoop[options.Loops == 0 ? Math.Min(Environment.ProcessorCount, EpollOptions.MaxLoops) : options.Loops];
        for (int i = 0; i < loops.Length; i++)
        {
            try
            {
                loops[i] = new EpollLoop(i, options, logger);
            }
            catch
            {
                foreach (EpollLoop started in loops.AsSpan(0, i))
                {
                    started.Stop();
                }

                throw;
            }
        }

        return loops;
    }
}
