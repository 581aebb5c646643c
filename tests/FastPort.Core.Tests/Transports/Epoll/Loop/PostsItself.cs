using FastPort.Transports.Epoll.Loop;

namespace FastPort.Core.Tests.Transports.Epoll.Loop;

/// <summary>
/// A task that the loop it began on finds in its inbox after every round, however many there are, until <see cref="End"/>.
/// </summary>
internal sealed class PostsItself : ILoopTask
{
    private EpollLoop? _loop;
    private volatile bool _ended;

    public ILoopTask? Next { get; set; }

    public bool HasBegun => Volatile.Read(ref _loop) is not null;

    /// <summary>Once, on a loop; does nothing after that.</summary>
    public void Begin()
    {
        if (_loop is null)
        {
            Volatile.Write(ref _loop, EpollLoop.Current);
            _loop!.Post(this);
        }
    }

    public void End() => _ended = true;

    public void RunOnLoop()
    {
        if (!_ended)
        {
            _loop!.Post(this);
        }
    }
}
