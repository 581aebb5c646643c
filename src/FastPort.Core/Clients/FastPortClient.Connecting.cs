using FastPort.Clients;
using FastPort.Logging;
using FastPort.Sessions;

namespace FastPort;

// The task that connects, and the events of the sessions that it opens.
public sealed partial class FastPortClient
{
    void ISessionHost.OnOpened(Session session)
    {
    }

    void ISessionHost.OnClosed(Session session, CloseReason reason) => _slot.Retire(session);

    void ISessionHost.OnGoodbye(Session session, CloseReason reason) => _slot.Retire(session);

    private async Task RunAsync(TaskCompletionSource connected, CancellationToken cancellationToken)
    {
        // The caller's thread holds the lock.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);

        Session session;
        try
        {
            using var both = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _closing.Token);
            _delays.Reset();
            session = await (_options.RetryConnect
                ? KeepTryingAsync(both.Token)
                : TryOnceAsync(await _tokens.GetAsync(both.Token).ConfigureAwait(false), both.Token)).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            // An attempt that fails at the same time as a cancel or a close counts as canceled.
            bool wasEnded = e is OperationCanceledException || cancellationToken.IsCancellationRequested || _slot.HasEnded;
            lock (_gate)
            {
                // Set before the caller's task fails: the caller may call ConnectAsync again at once.
                _running = null;
                _slot.Refuse($"The client is not connected: {(wasEnded ? "ConnectAsync was canceled; call it again." : e.Message)}");
            }

            connected.TrySetException(wasEnded ? new OperationCanceledException(e.Message, e, cancellationToken) : e);
            return;
        }

        connected.TrySetResult();
        while (true)
        {
            await _slot.WhenRetired(session).ConfigureAwait(false);
            if (_closing.IsCancellationRequested || !_options.Reconnect)
            {
                End("The connection has ended and the client does not reconnect.");
                return;
            }

            // If a server drops each session at once (two clients use the same id, a broken proxy), the client must not retry in a tight
            // loop.
            _delays.ResetAfter(TimeSpan.FromMilliseconds(_clock.PreciseMilliseconds - _connectedAt));
            try
            {
                session = await KeepTryingAsync(_closing.Token).ConfigureAwait(false);
            }
            catch (Exception e)
            {
                // The client was closed, or will not be let in.
                End($"The client is not connected: {e.Message}");
                return;
            }
        }
    }

    private void End(string why)
    {
        _slot.End(why);
        _routing.End(why);
    }

    // Retries after any error (no server, no descriptors) until the user cancels or closes. A Hello that is too large is not retried. A
    // refused token is not sent again: the token source is asked until it returns another.
    private async Task<Session> KeepTryingAsync(CancellationToken cancellationToken)
    {
        string token = string.Empty;
        string? refused = null;
        while (true)
        {
            try
            {
                await Task.Delay(_delays.Next(), _clock.Time, cancellationToken).ConfigureAwait(false);
                token = await _tokens.GetAsync(cancellationToken).ConfigureAwait(false);
                if (token == refused)
                {
                    continue;
                }

                // After a refusal: requests wait again.
                _slot.Expect();
                return await TryOnceAsync(token, cancellationToken).ConfigureAwait(false);
            }
            catch (RequestFailedException e) when (
                e.Code == ErrorCode.Unauthenticated && !cancellationToken.IsCancellationRequested && !_slot.HasEnded)
            {
                ClientLog.TokenRefused(_logger, _options.Endpoint, PeerText.Escape(e.Message), _tokens.Next);
                if (_tokens.IsFixed)
                {
                    throw;
                }

                refused = token;
                _slot.Refuse($"The server refused the token: {e.Message} {_tokens.Next}");
            }
            catch (FastPortOptionsException e)
            {
                ClientLog.HelloTooLarge(_logger, _options.Endpoint, e.Message);
                throw;
            }
            catch (Exception e) when (!cancellationToken.IsCancellationRequested && !_slot.HasEnded)
            {
                string why = PeerText.Escape(e.Message);
                _slot.Failed(why);
                ClientLog.ConnectFailed(_logger, _options.Endpoint, why);
            }
        }
    }

    private async Task<Session> TryOnceAsync(string token, CancellationToken cancellationToken)
    {
        Session session = await _opener.OpenAsync(token, cancellationToken).ConfigureAwait(false);
        string[] prefixes = _routing.Prefixes;
        List<string> later;
        try
        {
            // Before requests use the session, so that messages published through it come back to it.
            later = await SubscribeAgainAsync(session, prefixes, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            session.Abort();
            await session.Closed.ConfigureAwait(false);
            throw;
        }

        if (!TryPublish(session))
        {
            await session.Closed.ConfigureAwait(false);
            throw new OperationCanceledException("The client was closed while it connected.");
        }

        // Includes subscriptions that were given up since the last check, before the session could be notified.
        later.AddRange(prefixes.Except(_routing.Prefixes, StringComparer.Ordinal));
        if (later.Count != 0)
        {
            _ = SubscribeLaterAsync(session, later, _closing.Token);
        }

        return session;
    }

    // False if the client was closed in the meantime; then the session is closed and no event is raised.
    private bool TryPublish(Session session)
    {
        if (_slot.TryEnter(session) is not { } ready)
        {
            session.Protocol.CloseWithGoodbye(CloseReason.LocalClosed);
            return false;
        }

        _connectedAt = _clock.PreciseMilliseconds;
        ClientLog.Connected(_logger, session);
        LogFailures(Subscribers.Call(Connected, session, static (subscriber, s) => subscriber(s)), session, nameof(Connected));
        _ = RaiseDisconnectedAsync(session);
        ready.TrySetResult(session);
        if (session.IsClosed)
        {
            // The session was lost before it was published: its OnClosed found nothing to retire.
            _slot.Retire(session);
        }

        return true;
    }

    private async Task RaiseDisconnectedAsync(Session session)
    {
        CloseReason reason = await session.Closed.ConfigureAwait(false);
        ClientLog.Disconnected(_logger, session, reason);
        LogFailures(
            Subscribers.Call(Disconnected, (session, reason), static (subscriber, both) => subscriber(both.session, both.reason)),
            session,
            nameof(Disconnected));
        _slot.Leave(session);
    }

    private void LogFailures(IReadOnlyList<Exception> failures, Session session, string name)
    {
        foreach (Exception failure in failures)
        {
            ClientLog.SubscriberFailed(_logger, session, name, failure);
        }
    }
}
