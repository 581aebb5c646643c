using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// Accepts connections over TCP or a Unix socket with one reused SocketAsyncEventArgs. One accept is under way at a time; its completion
/// accepts the next, so the fields need no lock. No error ends the loop but the listener's own end (see <see cref="AcceptErrors"/>).
/// </summary>
internal sealed class SocketListener : ITransportListener
{
    private readonly ConnectionSettings _settings;
    private readonly AcceptRecovery _recovery;
    private ListeningSocket? _listening;
    private AcceptArgs? _args;
    private Action<Connection>? _accepted;

    // Held while a connection is handed over: none is handed over after a stop.
    private readonly Lock _handOver = new();
    private volatile bool _stopped;

    public SocketListener(Endpoint endpoint, ConnectionSettings settings)
    {
        Endpoint = endpoint;
        _settings = settings;
        _recovery = new AcceptRecovery(settings);
    }

    public Endpoint Endpoint { get; private set; }

    public void Start(Action<Connection> accepted)
    {
        _accepted = accepted;
        _listening = new ListeningSocket(Endpoint, _settings);
        Endpoint = _listening.Endpoint;
        _args = new AcceptArgs(this);
        AcceptSoon();
    }

    public ValueTask StopAsync()
    {
        lock (_handOver)
        {
            _stopped = true;
        }

        _listening?.Dispose();
        return ValueTask.CompletedTask;
    }

    // Not on the thread of the caller, which may be the clock's: accepting continues for as long as peers connect.
    private void AcceptSoon() => ThreadPool.UnsafeQueueUserWorkItem(static listener => listener.Accept(), this, preferLocal: false);

    private void Accept()
    {
        while (!_stopped)
        {
            _args!.AcceptSocket = null;
            try
            {
                if (_listening!.Socket.AcceptAsync(_args))
                {
                    return;
                }
            }
            catch (ObjectDisposedException)
            {
                return;
            }
            catch (Exception e) when (e is IOException or SocketException)
            {
                // The system does not watch one socket more.
                _recovery.RetryLater(Endpoint, (e as SocketException)?.SocketErrorCode ?? SocketError.NoBufferSpaceAvailable, AcceptSoon);
                return;
            }

            if (!Completed())
            {
                return;
            }
        }
    }

    // True if the next accept can begin at once.
    private bool Completed()
    {
        SocketError error = _args!.SocketError;
        if (error == SocketError.Success)
        {
            _recovery.Succeeded(Endpoint);
            HandOver(_args.AcceptSocket!);
            return true;
        }

        _args.AcceptSocket?.Dispose();
        return !_stopped && _recovery.Failed(Endpoint, error, AcceptSoon) == AcceptErrorClass.Transient;
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
        catch (SocketException e) when (connection is null)
        {
            // Reset between accept and here.
            socket.Dispose();
            _settings.AcceptFailed?.Invoke();
            TransportLog.AcceptTransient(_settings.Logger, Endpoint, e.SocketErrorCode.ToString());
        }
        catch (Exception e)
        {
            // It may have been started: the connection disposes its socket.
            connection?.Abort(CloseReason.LocalClosed);
            if (connection is null)
            {
                socket.Dispose();
            }

            TransportLog.AcceptedFault(_settings.Logger, Endpoint, e);
        }

        NoContext.Restore();
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
