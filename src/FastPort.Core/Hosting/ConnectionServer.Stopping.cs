using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Hosting;

/// <content>The ordered stop: accepts no more, notifies all protocols, and aborts connections that do not finish in time.</content>
public sealed partial class ConnectionServer
{
    // Additional time for a stop besides ShutdownTimeout. Aborted connections whose protocols block their loop have 5 s of it.
    private static readonly TimeSpan StopMargin = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Whether a stop has begun: no connection is accepted any more, or soon none will be (<see cref="ServerOptions.DrainDelay"/>).
    /// </summary>
    public bool IsStopping => _stopping;

    /// <summary>
    /// Stops the server: waits <see cref="ServerOptions.DrainDelay"/>, accepts no more connections, notifies every protocol
    /// (<see cref="IConnectionProtocol.OnStopping"/>), waits up to <see cref="ServerOptions.ShutdownTimeout"/> for the connections, then
    /// aborts those that are left. Always completes; idempotent.
    /// </summary>
    /// <param name="cancellationToken">Ends the waits and aborts the remaining connections at once.</param>
    public Task StopAsync(CancellationToken cancellationToken = default)
    {
        lock (_gate)
        {
            // From here on the server cannot start. Who asks is told so; connections are admitted until the drain delay is over.
            _stopping = true;
            return _stopped ??= StopInTimeAsync(cancellationToken);
        }
    }

    // Not on the caller's thread, which holds the lock, and bounded: a logger or protocol that blocks must not keep the process from
    // ending.
    private async Task StopInTimeAsync(CancellationToken cancellationToken)
    {
        try
        {
            await Task.Run(() => StopCoreAsync(cancellationToken), CancellationToken.None)
                .WaitAsync(_options.DrainDelay + _options.ShutdownTimeout + StopMargin, _time, CancellationToken.None)
                .ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // Not logged: the cause may block the log, too.
        }
    }

    private async Task StopCoreAsync(CancellationToken cancellationToken)
    {
        await DrainAsync(cancellationToken).ConfigureAwait(false);
        _closing = true;
        ITransportListener[] listeners;
        lock (_gate)
        {
            listeners = _listeners;
        }

        foreach (ITransportListener listener in listeners)
        {
            await listener.StopAsync().ConfigureAwait(false);
        }

        Bans.Added -= CloseBanned;

        // Not awaited: a stage's callback that throws or blocks must not keep the sessions from being told.
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

        if (!await AllClosedAsync(_options.ShutdownTimeout, cancellationToken).ConfigureAwait(false))
        {
            ServerLog.StopAborts(_logger, _accepted.Count, _options.ShutdownTimeout);
            foreach (AcceptedConnection accepted in _accepted.Values)
            {
                accepted.Connection.Abort(CloseReason.Stopping);
            }

            // An aborted connection ends as soon as its loop has run. The bound is for a protocol that blocks its loop.
            await AllClosedAsync(TimeSpan.FromSeconds(5), CancellationToken.None).ConfigureAwait(false);
        }

        _certificates?.Dispose();
        Memory.Leave(this);
        _clock?.Dispose();
        ServerLog.Stopped(_logger);
    }

    // A server whose start has failed has nothing to drain.
    private async Task DrainAsync(CancellationToken cancellationToken)
    {
        if (_options.DrainDelay > TimeSpan.Zero && _listens)
        {
            var delay = Task.Delay(_options.DrainDelay, _time, cancellationToken);
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
