using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Unix;

namespace FastPort.Transports.Sockets;

/// <summary>
/// Accepts connections over TCP or a Unix socket with one reused SocketAsyncEventArgs. One accept is under way at a time; its completion
/// accepts the next, so the fields need no lock. No error ends the loop but the listener's own end (see <see cref="AcceptErrors"/>).
/// </summary>
internal sealed class SocketListener : ITransportListener
{
    private const int Backlog = 4096;

    private readonly ConnectionSettings _settings;
    private readonly AcceptBackoff _backoff = new();
    private Socket? _socket;
    private UnixSocketFile? _file;
    private AcceptArgs? _args;
    private Action<Connection>? _accepted;

    // Held while a connection is handed over: after a stop none comes any more.
    private readonly Lock _handOver = new();
    private volatile bool _stopped;

    public SocketListener(Endpoint endpoint, ConnectionSettings settings)
    {
        Endpoint = endpoint;
        _settings = settings;
    }

    public Endpoint Endpoint { get; private set; }

    public void Start(Action<Connection> accepted)
    {
        _accepted = accepted;
        _socket = Endpoint.Scheme == "unix" ? ListenAtFile(new UnixSocketFile(Endpoint, _settings)) : ListenAtPort();
        _args = new AcceptArgs(this);
        ThreadPool.UnsafeQueueUserWorkItem(static listener => listener.Accept(), this, preferLocal: false);
    }

    public ValueTask StopAsync()
    {
        lock (_handOver)
        {
            _stopped = true;
        }

        _file?.Remove();
        _socket?.Dispose();
        return ValueTask.CompletedTask;
    }

    public ValueTask DisposeAsync() => StopAsync();

    private Socket ListenAtPort()
    {
        IPEndPoint address = SocketAddresses.ForListening(Endpoint);
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (address.Address.Equals(IPAddress.IPv6Any))
            {
                socket.DualMode = true;
            }

            SocketTuning.Prepare(socket, address, _settings);
            socket.Bind(address);
            socket.Listen(Backlog);
        }
        catch (Exception e)
        {
            socket.Dispose();
            if (e is SocketException refused)
            {
                throw new EndpointException(Endpoint, SocketAddresses.DescribeBindError(Endpoint, refused), e);
            }

            throw;
        }

        Endpoint = Endpoint with { Port = ((IPEndPoint)socket.LocalEndPoint!).Port };
        return socket;
    }

    private Socket ListenAtFile(UnixSocketFile file)
    {
        file.Prepare();
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            socket.Bind(file.Address);
            file.AfterBind();
            socket.Listen(Backlog);
            file.AfterListen();
        }
        catch (Exception e)
        {
            file.Remove();
            socket.Dispose();
            if (e is SocketException refused)
            {
                throw new EndpointException(Endpoint, SocketAddresses.DescribeBindError(Endpoint, refused), e);
            }

            throw;
        }

        _file = file;
        return socket;
    }

    private void Accept()
    {
        while (!_stopped)
        {
            _args!.AcceptSocket = null;
            try
            {
                if (_socket!.AcceptAsync(_args))
                {
                    return;
                }
            }
            catch (ObjectDisposedException)
            {
                return;
            }

            if (!Completed())
            {
                return;
            }
        }
    }

    // True where the next accept can begin at once.
    private bool Completed()
    {
        SocketError error = _args!.SocketError;
        if (error == SocketError.Success)
        {
            if (_backoff.Succeeded())
            {
                TransportLog.AcceptRecovered(_settings.Logger, Endpoint);
            }

            HandOver(_args.AcceptSocket!);
            return true;
        }

        _args.AcceptSocket?.Dispose();
        if (_stopped)
        {
            return false;
        }

        _settings.AcceptFailed?.Invoke();
        switch (AcceptErrors.Sort(error))
        {
            case AcceptErrorClass.Transient:
                TransportLog.AcceptTransient(_settings.Logger, Endpoint, error.ToString());
                return true;
            case AcceptErrorClass.Pressure:
                TimeSpan delay = _backoff.Next();
                TransportLog.AcceptPressure(_settings.Logger, Endpoint, error.ToString(), delay.TotalMilliseconds);
                _settings.Clock.CallLater(delay, Accept);
                return false;
            default:
                TransportLog.AcceptFatal(_settings.Logger, Endpoint, error.ToString());
                return false;
        }
    }

    private void HandOver(Socket socket)
    {
        SocketConnection? connection = null;
        try
        {
            SocketTuning.Apply(socket, _settings);
            lock (_handOver)
            {
                if (_stopped)
                {
                    socket.Dispose();
                    return;
                }

                connection = new SocketConnection(socket, _settings);
                _accepted!(connection);
            }
        }
        catch (SocketException e)
        {
            // Reset between accept and here.
            socket.Dispose();
            _settings.AcceptFailed?.Invoke();
            TransportLog.AcceptTransient(_settings.Logger, Endpoint, e.SocketErrorCode.ToString());
        }
        catch (Exception e)
        {
            // It may have been started.
            connection?.Abort(CloseReason.LocalClosed);
            socket.Dispose();
            TransportLog.AcceptedFault(_settings.Logger, Endpoint, e);
        }
    }

    private sealed class AcceptArgs(SocketListener listener) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            if (listener.Completed())
            {
                listener.Accept();
            }
        }
    }
}
