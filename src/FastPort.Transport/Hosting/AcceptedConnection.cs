using System.Net;
using FastPort.Connections;
using FastPort.Telemetry;

namespace FastPort.Hosting;

/// <summary>
/// A connection admitted by a server, from the accept to its end. It frees its place exactly once. <see cref="_gate"/> guards the address,
/// whether the connection was counted and whether it has ended; only counters change under it.
/// </summary>
internal sealed class AcceptedConnection(ConnectionServer server, Connection connection, EndPoint? address, ConnectionStage[] stages)
    : IConnectionOwner, IHandshakeStep
{
    private readonly Lock _gate = new();
    private EndPoint? _address = address;

    // Whether the address is known, also that there is none: rates are charged then.
    private bool _isKnown = address is not null;
    private Connection? _served;
    private bool _left;
    private bool _counted;
    private int _started;
    private int _stopping;
    private int _told;

    /// <summary>The transport's connection.</summary>
    public Connection Connection => connection;

    /// <summary>The stages of the endpoint that it came to.</summary>
    public ConnectionStage[] Stages => stages;

    /// <summary>
    /// The connection that the protocol uses: the transport's, or a stage's above it. Null before the protocol is started.
    /// </summary>
    public Connection? Served => Volatile.Read(ref _served);

    /// <summary>The connection that has the protocol's bytes: <see cref="Served"/>, before that the transport's.</summary>
    public Connection Top => Served ?? connection;

    /// <summary>The address that the connection is counted under.</summary>
    public EndPoint? Address
    {
        get
        {
            lock (_gate)
            {
                return _address;
            }
        }
    }

    /// <summary>The origin of the connection, for log lines: a proxy's address until its client's address is known.</summary>
    public EndPoint? Source => Address ?? connection.RemoteEndPoint;

    void IHandshakeStep.Run() => _ = server.OpenAfterStagesAsync(this);

    /// <summary>
    /// Counts the connection under another address from now on (null), or returns why that address is refused. A peer without an address
    /// counts in total only.
    /// </summary>
    public ConnectionRejection? TryMove(Admission admission, EndPoint? to, out string? why)
    {
        why = null;
        lock (_gate)
        {
            if (_left || (_isKnown && Equals((_address as IPEndPoint)?.Address, (to as IPEndPoint)?.Address)))
            {
                return null;
            }

            ConnectionRejection? refused = admission.TryMove(_address, to, out why);
            if (refused is null)
            {
                _address = to;
                _isKnown = true;
            }

            return refused;
        }
    }

    /// <summary>Counts the connection as accepted, just before it is served; false if it has ended in the meantime.</summary>
    public bool TryCount(ConnectionCounters counters)
    {
        lock (_gate)
        {
            if (_left)
            {
                return false;
            }

            _counted = true;
            counters.Accepted();
            return true;
        }
    }

    /// <summary>Starts the protocol.</summary>
    public void Serve(Connection top, IConnectionProtocol protocol)
    {
        // Before the start: the protocol's callbacks find the connection among the server's.
        Volatile.Write(ref _served, top);
        top.Start(protocol);

        // Stop writes _stopping before it reads _started. This method writes _started before it reads _stopping. At least one of them sees
        // both.
        Interlocked.Exchange(ref _started, 1);
        if (Volatile.Read(ref _stopping) != 0)
        {
            TellStopping(top);
        }
    }

    /// <summary>Notifies the protocol that the server stops. If there is none yet, the code that opens the connection ends it.</summary>
    public void Stop()
    {
        Interlocked.Exchange(ref _stopping, 1);
        if (Volatile.Read(ref _started) != 0)
        {
            TellStopping(_served!);
        }
    }

    public void OnEnding()
    {
        lock (_gate)
        {
            if (!_left)
            {
                _left = true;
                server.Leave(_address, _counted, Served);
            }
        }
    }

    public void OnEnded()
    {
        OnEnding();
        server.Forget(this);
    }

    // Posted to the loop, like all calls of the protocol, so it runs after OnOpened. An exception ends the connection.
    private void TellStopping(Connection top)
    {
        if (Interlocked.Exchange(ref _told, 1) == 0)
        {
            top.Post(
                static state =>
                {
                    var connection = (Connection)state!;
                    if (!connection.Protocol!.OnStopping(CloseReason.Stopping))
                    {
                        connection.Close(CloseReason.Stopping);
                    }
                },
                top);
        }
    }
}
