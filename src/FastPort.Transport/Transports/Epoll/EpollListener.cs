using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Epoll.Loop;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll;

/// <summary>
/// Accepts on one loop and hands each connection to the loop with the fewest connections. For few, long connections that shares the work
/// more evenly than the kernel's hashing over one listening socket per loop. Only an error of the listening socket itself ends it (see
/// <see cref="AcceptErrors"/>).
/// </summary>
internal sealed class EpollListener : ITransportListener, ILoopHandler
{
    // Limits a turn, so that many new connections do not keep the loop from its existing ones.
    private const int AcceptsPerTurn = 64;

    private readonly EpollLoopGroup _group;
    private readonly ConnectionSettings _settings;
    private readonly AcceptRecovery _recovery;
    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ListeningSocket? _listening;
    private EpollLoop? _loop;
    private Action<Connection>? _accepted;
    private int _descriptor;
    private int _stopping;

    // The fields below are used only by the loop.
    private bool _watched;
    private bool _stopped;

    // This side's address of the connection accepted last: the next one's is the same, and they share it.
    private EndPoint? _local;

    public EpollListener(Endpoint endpoint, ConnectionSettings settings, EpollLoopGroup group)
    {
        Endpoint = endpoint;
        _settings = settings;
        _recovery = new AcceptRecovery(settings);
        _group = group;
    }

    public Endpoint Endpoint { get; private set; }

    public void Start(Action<Connection> accepted)
    {
        _accepted = accepted;
        _listening = new ListeningSocket(Endpoint, _settings);
        try
        {
            _loop = _group.Acquire(_settings.Logger);
        }
        catch (Exception e)
        {
            _listening.Dispose();
            if (e is SocketException refused)
            {
                throw new EndpointException(Endpoint, ListeningSocket.Describe(Endpoint, refused), e);
            }

            throw;
        }

        _listening.Socket.Blocking = false;
        _descriptor = (int)_listening.Socket.Handle;
        Endpoint = _listening.Endpoint;
        _loop.Run(Watch);
    }

    public async ValueTask StopAsync()
    {
        if (_loop is null)
        {
            return;
        }

        if (Interlocked.Exchange(ref _stopping, 1) == 0)
        {
            _loop.Run(Close);
        }

        await _closed.Task.ConfigureAwait(false);
    }

    void ILoopHandler.OnReady(uint events)
    {
        for (int i = 0; i < AcceptsPerTurn && _watched; i++)
        {
            int descriptor = NativeSocket.Accept(_descriptor, _listening!.Address, out EndPoint? remote);
            if (descriptor >= 0)
            {
                _recovery.Succeeded(Endpoint);
                HandOver(descriptor, remote);
            }
            else if (!GoOnAfter(Errno.Last))
            {
                return;
            }
        }
    }

    // Level-triggered: connections that a turn does not accept are reported again.
    private void Watch()
    {
        if (_stopped || _watched)
        {
            return;
        }

        _watched = _loop!.TryWatch(_descriptor, Libc.EpollIn, this);
        if (!_watched)
        {
            _recovery.RetryLater(Endpoint, Errno.ToSocketError(Errno.Last), Retry);
        }
    }

    private bool GoOnAfter(int errno)
    {
        if (errno is Errno.Again)
        {
            return false;
        }

        if (_recovery.Failed(Endpoint, Errno.ToSocketError(errno), Retry) == AcceptErrorClass.Transient)
        {
            return true;
        }

        // Not watched until the retry: waiting connections would wake the loop repeatedly for nothing.
        Unwatch();
        return false;
    }

    private void Retry() => _loop!.Run(Watch);

    private void HandOver(int descriptor, EndPoint? remote)
    {
        EpollLoop? loop = null;
        EpollConnection? connection = null;
        try
        {
            NativeSocket.Tune(descriptor, _listening!.Address, _settings);
            loop = _group.Acquire(_settings.Logger);
            EndPoint? local = NativeSocket.LocalAddress(descriptor, _listening.Address);
            _local = Equals(local, _local) ? _local : local;
            connection = new EpollConnection(descriptor, _group, loop, _settings, remote, _local);
            loop = null;
            descriptor = -1;
            _accepted!(connection);
        }
        catch (Exception e)
        {
            TransportLog.AcceptedFault(_settings.Logger, Endpoint, e);
            connection?.Abort(CloseReason.LocalClosed);
            if (descriptor >= 0)
            {
                _ = Libc.Close(descriptor);
            }

            if (loop is not null)
            {
                _group.Release(loop);
            }
        }

        NoContext.Restore();
    }

    private void Unwatch()
    {
        if (_watched)
        {
            _watched = false;
            _loop!.Unwatch(_descriptor);
        }
    }

    private void Close()
    {
        Unwatch();
        _stopped = true;
        _listening!.Dispose();
        _closed.SetResult();
        _group.Release(_loop!);
    }
}
