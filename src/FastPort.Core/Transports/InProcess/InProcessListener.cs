using System.Collections.Concurrent;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// Listens at a name of the process. Links are handed over one after the other by a work item of the pool, not on the connecting thread:
/// what accepts them is other people's code, and the connecting thread may hold their locks.
/// </summary>
internal sealed class InProcessListener(Endpoint endpoint, ConnectionSettings settings, int? spinMicroseconds) : ITransportListener,
IThreadPoolWorkItem
{
    private static readonly ConcurrentDictionary<string, InProcessListener> ByName = new(StringComparer.Ordinal);

    private readonly ConcurrentQueue<InProcessConnection> _waiting = new();

    // Held while a link is handed over: none is handed over after a stop.
    private readonly Lock _handOver = new();
    private Action<Connection>? _accepted;
    private int _scheduled;
    private volatile bool _stopped;

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

    /// <summary>Makes a link and returns the connecting side's end; null where the listener has been stopped.</summary>
    public InProcessConnection? TryConnect(ConnectionSettings connecting, int? connectingSpin)
    {
        (InProcessConnection connection, InProcessConnection accepted) = InProcessConnection.CreatePair(
            endpoint, (connecting, connectingSpin), (settings, spinMicroseconds));
        _waiting.Enqueue(accepted);
        if (_stopped)
        {
            // The stopping thread may have checked already.
            AbortWaiting();
            return null;
        }

        if (Interlocked.Exchange(ref _scheduled, 1) == 0)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }

        return connection;
    }

    public ValueTask StopAsync()
    {
        ByName.TryRemove(new KeyValuePair<string, InProcessListener>(endpoint.Host, this));
        lock (_handOver)
        {
            _stopped = true;
        }

        AbortWaiting();
        return ValueTask.CompletedTask;
    }

    public ValueTask DisposeAsync() => StopAsync();

    void IThreadPoolWorkItem.Execute()
    {
        // Cleared before looking: what is added from here on is either seen below or schedules the next run.
        Interlocked.Exchange(ref _scheduled, 0);
        while (_waiting.TryDequeue(out InProcessConnection? connection))
        {
            HandOver(connection);
        }
    }

    private void AbortWaiting()
    {
        // The full fence of the lock, or of the queue, lies between the stop and this look on either side.
        while (_waiting.TryDequeue(out InProcessConnection? connection))
        {
            connection.Abort(CloseReason.LocalClosed);
        }
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
