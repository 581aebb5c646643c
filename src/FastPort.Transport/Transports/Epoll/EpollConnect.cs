using System.Net;
using FastPort.Connections;
using FastPort.Transports.Epoll.Loop;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll;

/// <summary>
/// One attempt to connect. The attempt owns the descriptor until it has succeeded; the connection then runs on the loop that watched the
/// descriptor. Only the loop ends the attempt, so a cancellation and a success cannot both happen; its caller does not wait for that.
/// </summary>
internal sealed class EpollConnect : ILoopHandler
{
    private readonly EndPoint _address;
    private readonly EpollLoopGroup _group;
    private readonly EpollLoop _loop;
    private readonly ConnectionSettings _settings;
    private readonly TaskCompletionSource<Connection> _result = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly int _descriptor;
    private bool _watched;
    private bool _over;

    private EpollConnect(EndPoint address, EpollLoopGroup group, ConnectionSettings settings)
    {
        _address = address;
        _group = group;
        _settings = settings;

        // Before the loop is acquired: creating the descriptor fails when the process has no free one.
        _descriptor = NativeSocket.Create(address, settings);
        try
        {
            _loop = group.Acquire(settings.Logger);
        }
        catch
        {
            _ = Libc.Close(_descriptor);
            throw;
        }
    }

    /// <exception cref="System.Net.Sockets.SocketException">Not connected.</exception>
    /// <exception cref="EndpointException">The system refuses the congestion control of the settings.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public static async ValueTask<Connection> RunAsync(
        EndPoint address, EpollLoopGroup group, ConnectionSettings settings, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var attempt = new EpollConnect(address, group, settings);
        attempt._loop.Run(attempt.Begin);
        await using (cancellationToken.UnsafeRegister(
            static (state, token) => ((EpollConnect)state!).CancelSoon(token), attempt).ConfigureAwait(false))
        {
            return await attempt._result.Task.ConfigureAwait(false);
        }
    }

    void ILoopHandler.OnReady(uint events)
    {
        // The event may be that of a closed descriptor with the same number, which a process that is being started still holds.
        int error = NativeSocket.TakeError(_descriptor);
        if (error != 0 || NativeSocket.RemoteAddress(_descriptor, _address) is not null)
        {
            Complete(error);
        }
    }

    private void CancelSoon(CancellationToken token) => _loop.Run(() =>
    {
        if (!_over)
        {
            Fail(new OperationCanceledException(token));
        }
    });

    private void Begin()
    {
        int error = NativeSocket.Connect(_descriptor, _address);
        if (error != Errno.InProgress)
        {
            Complete(error);
            return;
        }

        _watched = _loop.TryWatch(_descriptor, Libc.EpollOut, this);
        if (!_watched)
        {
            Complete(Errno.Last);
        }
    }

    private void Complete(int error)
    {
        if (error != 0)
        {
            Fail(Errno.ToException(error));
            return;
        }

        End();
        try
        {
            NativeSocket.Tune(_descriptor, _address, _settings);
            EndPoint? remote = NativeSocket.RemoteAddress(_descriptor, _address), local = NativeSocket.LocalAddress(_descriptor, _address);
            _result.SetResult(new EpollConnection(_descriptor, _group, _loop, _settings, remote, local));
        }
        catch (Exception e)
        {
            // Out of memory, or a defect: the caller gets the exception.
            Fail(e);
        }
    }

    private void Fail(Exception exception)
    {
        End();
        _ = Libc.Close(_descriptor);
        _result.SetException(exception);
        _group.Release(_loop);
    }

    private void End()
    {
        _over = true;
        if (_watched)
        {
            _watched = false;
            _loop.Unwatch(_descriptor);
        }
    }
}
