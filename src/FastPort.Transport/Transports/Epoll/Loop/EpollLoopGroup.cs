using Microsoft.Extensions.Logging;

namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// The loops of one transport. They start with the first user (a listener, a connection, a connect under way) and end with the last one, so
/// a stopped server leaves no thread running. Thread-safe.
/// </summary>
internal sealed class EpollLoopGroup(EpollOptions options)
{
    // Guards everything below, and the loops' Load.
    private readonly Lock _gate = new();
    private EpollLoop[] _loops = [];
    private int _users;
    private int _next;

    /// <summary>Acquires the loop with the fewest users; the caller releases it with <see cref="Release"/>.</summary>
    /// <param name="logger">Logs the loops' own faults if this call starts the loops.</param>
    /// <exception cref="System.Net.Sockets.SocketException">The system has no descriptors for the loops.</exception>
    public EpollLoop Acquire(ILogger logger)
    {
        lock (_gate)
        {
            if (_users == 0)
            {
                _loops = Start(logger);
            }

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

    /// <summary><see cref="EpollLoop.Progress"/> of each loop; empty while no loop runs.</summary>
    public IReadOnlyList<(long IdleNanoseconds, long Rounds)> ReadProgress()
    {
        lock (_gate)
        {
            return [.. _loops.Select(static loop => loop.Progress)];
        }
    }

    public void Release(EpollLoop loop)
    {
        EpollLoop[] ended;
        lock (_gate)
        {
            loop.Load--;
            if (--_users != 0)
            {
                return;
            }

            ended = _loops;
            _loops = [];
            _next = 0;
        }

        foreach (EpollLoop each in ended)
        {
            each.Stop();
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
