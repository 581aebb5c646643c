using System.Net;
using FastPort.Connections;
using FastPort.Telemetry.Counters;

namespace FastPort.Hosting;

/// <summary>
/// A connection that a server let in, from the accept to its end. Its place is free again exactly once. <see cref="_gate"/> guards the
/// address, whether it was counted and whether
/// it has ended; only counts are changed under it.
/// </summary>
internal sealed class AcceptedConnection(ConnectionServer server, Connection connection) : IConnectionOwner, IThreadPoolWorkItem
{
    private readonly Lock _gate = new();
    private EndPoint? _address = connection.RemoteEndPoint;
    private Connection? _served;
    private bool _left;
    private bool _counted;
    private int _started;
    private int _stopping;
    private int _told;

    /// <summary>What the transport handed over.</summary>
    public Connection Connection => connection;

    /// <summary>What the protocol has: the same, or what a stage put above it. Null before its protocol is started.</summary>
    public Connection? Served => Volatile.Read(ref _served);

    /// <summary>The address that the connection counts for.</summary>
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

    void IThreadPoolWorkItem.Execute() => _ = server.OpenAsync(this);

    /// <summary>The connection counts for another address from here on. False where that is at its limit.</summary>
    public bool TryMove(Admission admission, EndPoint? to)
    {
        lock (_gate)
        {
            if (_left || Equals((_address as IPEndPoint)?.Address, (to as IPEndPoint)?.Address))
            {
                return true;
            }

            if (!admission.TryMove(_address, to))
            {
                return false;
            }

            _address = to;
            return true;
        }
    }

    /// <summary>The connection is about to be served. False where it has ended meanwhile.</summary>
    public bool TryCount(ServerCounters counters)
    {
        lock (_gate)
        {
            if (_left)
            {
                return false;
            }

            _counted = true;
            counters.ConnectionAccepted();
            return true;
        }
    }

    /// <summary>The protocol takes over.</summary>
    public void Serve(Connection top, IConnectionProtocol protocol)
    {
        // Before the start: who is told of the connection finds it among the others.
        Volatile.Write(ref _served, top);
        top.Start(protocol);

        // The stop writes its flag before it looks at this one: one of the two sees both.
        Interlocked.Exchange(ref _started, 1);
        if (Volatile.Read(ref _stopping) != 0)
        {
            TellStopping(top);
        }
    }

    /// <summary>The server stops. A connection that has no protocol yet is ended by whoever opens it.</summary>
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

    // On the loop, as all calls of the protocol: so after it was opened. What it throws ends its connection.
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
