using FastPort.Hosting;
using FastPort.Transports;

namespace FastPort.Connections;

/// <content>The ordered stop: accepts no more, notifies all protocols, and aborts connections that do not finish in time.</content>
public sealed partial class ConnectionServer
{
    // Additional time for a stop after ShutdownTimeout: for the steps that follow, with a margin.
    private static readonly TimeSpan StopMargin = TimeSpan.FromSeconds(10);

    // For a listener whose loop is blocked. The sessions of other loops must still be notified, and soon.
    private static readonly TimeSpan ListenerTimeout = TimeSpan.FromSeconds(1);

    // For aborted connections and listeners whose loop is blocked.
    private static readonly TimeSpan BlockedTimeout = TimeSpan.FromSeconds(5);

    // Canceled by the token of any call of StopAsync. Never disposed: a call may come after the stop.
    private readonly CancellationTokenSource _hurry = new();

    /// <summary>
    /// Whether a stop has begun: no connection is accepted any more, or soon none will be (<see cref="ServerOptions.DrainDelay"/>).
    /// </summary>
    public bool IsStopping => _stopping;

    /// <summary>
    /// Stops the server: waits <see cref="ServerOptions.DrainDelay"/>, accepts no more connections, notifies every protocol
    /// (<see cref="IConnectionProtocol.OnStopping"/>), waits up to <see cref="ServerOptions.ShutdownTimeout"/> for the connections, then
    /// aborts those that are left. Always completes; idempotent.
    /// </summary>
    /// <param name="cancellationToken">
    /// Ends the waits and aborts the remaining connections at once, also if an earlier call has begun the stop.
    /// </param>
    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        // On the pool: the rest of the stop must not run on the canceling thread.
        using (cancellationToken.UnsafeRegister(static hurry => _ = ((CancellationTokenSource)hurry!).CancelAsync(), _hurry))
        {
            Task stopped;
            lock (_gate)
            {
                // From here on the server cannot start. Callers that ask see the stop; connections are admitted until the drain delay is
                // over.
                _stopping = true;
                stopped = _stopped ??= StopInTimeAsync();
            }

            await stopped.ConfigureAwait(false);
        }
    }

    // Not on the caller's thread, which holds the lock, and bounded: a logger or protocol that blocks must not keep the process from
    // ending.
    private async Task StopInTimeAsync()
    {
        try
        {
            await Task.Run(StopCoreAsync, CancellationToken.None)
                .WaitAsync(_options.DrainDelay + _options.ShutdownTimeout + StopMargin, _time, CancellationToken.None)
                .ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // Not logged: the cause may block the log, too.
        }
    }

    private async Task StopCoreAsync()
    {
        await DrainAsync().ConfigureAwait(false);
        _closing = true;
        ITransportListener[] listeners;
        lock (_gate)
        {
            listeners = _listeners;
        }

        // First the listeners, so that a client that is asked to leave cannot reconnect. A listener that does not stop in time accepts no
        // connections: _closing.
        Task unbound = Task.WhenAll(listeners.Select(static listener => Task.Run(() => listener.StopAsync().AsTask())));
        await unbound.WaitAsync(ListenerTimeout, _time, _hurry.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

        Bans.Added -= CloseBanned;

        // Not awaited: a stage's callback that throws or blocks must not keep the sessions from being notified.
        _ = _stop.CancelAsync();
        AcceptedConnection[] open = [.. _accepted.Values];
        if (open.Length != 0)
        {
            ServerLog.Stopping(_logger, open.Length, _options.ShutdownTimeout);
        }

        foreach (AcceptedConnection accepted in open)
        {
            accepted.Stop();
        }

        if (!await AllClosedAsync(_options.ShutdownTimeout, _hurry.Token).ConfigureAwait(false))
        {
            ServerLog.StopAborts(_logger, _accepted.Count);
            foreach (AcceptedConnection accepted in _accepted.Values)
            {
                accepted.Connection.Abort(CloseReason.Stopping);
            }
        }

        // An aborted connection ends, and a listener stops, as soon as its loop has run.
        await Task.WhenAll(unbound, AllClosedAsync(Timeout.InfiniteTimeSpan, CancellationToken.None))
            .WaitAsync(BlockedTimeout, _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _certificates?.Dispose();
        Memory.Leave(this);
        _clock?.Dispose();
        ServerLog.Stopped(_logger);
        if (unbound.IsFaulted)
        {
            // An exception of a transport's listener is thrown to the caller of the stop, but does not prevent the steps above.
            await unbound.ConfigureAwait(false);
        }
    }

    // A server whose start has failed has nothing to drain.
    private async Task DrainAsync()
    {
        if (_options.DrainDelay > TimeSpan.Zero && _listens)
        {
            var delay = Task.Delay(_options.DrainDelay, _time, _hurry.Token);
            ServerLog.Draining(_logger, _options.DrainDelay);
            await delay.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task<bool> AllClosedAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        try
        {
            while (_accepted.Values is { Count: > 0 } open)
            {
                Task closed = Task.WhenAll(open.Select(static a => a.Connection.Closed));
                await closed.WaitAsync(timeout, _time, cancellationToken).ConfigureAwait(false);
            }

            return true;
        }
        catch (Exception e) when (e is TimeoutException or OperationCanceledException)
        {
            return _accepted.IsEmpty;
        }
    }
}
