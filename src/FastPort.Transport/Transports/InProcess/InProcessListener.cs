using System.Collections.Concurrent;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// Listens at a name of the process. Links are handed over by work items of the pool, in no particular order, not on the connecting thread:
/// accepting them runs application code, and the connecting thread may hold its locks. Links that wait at a stop are aborted by those work
/// items.
/// </summary>
internal sealed class InProcessListener(Endpoint endpoint, ConnectionSettings settings, int? spinMicroseconds) : ITransportListener
{
    private static readonly ConcurrentDictionary<string, InProcessListener> ByName = new(StringComparer.Ordinal);

    // Held while a link is handed over: one at a time, and none after a stop.
    private readonly Lock _handOver = new();
    private Action<Connection>? _accepted;
    private bool _stopped;

    public Endpoint Endpoint => endpoint;

    /// <summary>The listener of a name; null where there is none.</summary>
    public static InProcessListener? Find(string name) => ByName.GetValueOrDefault(name);

    public void Start(Action<Connection> accepted)
    {
        _accepted = accepted;
        if (!ByName.TryAdd(endpoint.Host, this))
        {
            throw new EndpointException(
                endpoint,
                $"Cannot listen on {endpoint}: the name is in use in this process. Stop the server that has it, or choose another name.");
        }
    }

    /// <summary>Creates a link and returns the connecting side's end, which is lost if the listener stops in the meantime.</summary>
    public InProcessConnection Connect(ConnectionSettings connecting, int? connectingSpin)
    {
        (InProcessConnection connection, InProcessConnection accepted) = InProcessConnection.CreatePair(
            endpoint, (connecting, connectingSpin), (settings, spinMicroseconds));
        ThreadPool.UnsafeQueueUserWorkItem(
            static link => link.Listener.HandOver(link.Accepted), (Listener: this, Accepted: accepted), preferLocal: false);
        return connection;
    }

    public ValueTask StopAsync()
    {
        ByName.TryRemove(new KeyValuePair<string, InProcessListener>(endpoint.Host, this));
        lock (_handOver)
        {
            _stopped = true;
        }

        return ValueTask.CompletedTask;
    }

    private void HandOver(InProcessConnection connection)
    {
        try
        {
            lock (_handOver)
            {
                if (!_stopped)
                {
                    _accepted!(connection);
                    return;
                }
            }

            connection.Abort(CloseReason.LocalClosed);
        }
        catch (Exception e)
        {
            // It may have been started.
            connection.Abort(CloseReason.LocalClosed);
            TransportLog.AcceptedFault(settings.Logger, endpoint, e);
        }
    }
}
