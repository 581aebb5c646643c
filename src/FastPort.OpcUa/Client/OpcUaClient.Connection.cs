using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Logging;
using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <content>One task for the client's life: it keeps a session, and reconnects when its connection has ended.</content>
public sealed partial class OpcUaClient
{
    // Warnings of one outage about failed attempts.
    private const int MaxToldObstacles = 10;

    // Answers of two concurrent calls could be applied in the wrong order.
    private readonly SemaphoreSlim _refreshing = new(1);

    private int _hasToldUndecodable;

    /// <summary>
    /// Reads the server's namespaces again, as a server may add some while it runs: <see cref="Namespaces"/> contains them from then on.
    /// </summary>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OpcUaException">They could not be read, or their indexes have changed: then the client reconnects.</exception>
    public async ValueTask RefreshNamespacesAsync(CancellationToken cancellationToken = default)
    {
        await _refreshing.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            SessionLink link = await LinkAsync(after: null, "Read", cancellationToken).ConfigureAwait(false);
            NamespaceTable before = link.Namespaces;
            if (!await link.TryReadNamespacesAsync(cancellationToken).ConfigureAwait(false))
            {
                link.Break("the server has changed the indexes of its namespaces.");
                throw NamespacesChanged("Read");
            }

            // Those of the next session may already be set.
            Interlocked.CompareExchange(ref _namespaces, link.Namespaces, before);
        }
        finally
        {
            _refreshing.Release();
        }
    }

    // The session was published.
    private async Task RunAsync(SessionLink link)
    {
        var delays = new ReconnectBackoff(_options.ReconnectDelay, _options.MaxReconnectDelay);
        var recovery = SessionRecovery.None;
        while (true)
        {
            Raise(nameof(Connected), Connected, recovery, static (subscriber, r) => subscriber(r));
            _hasConnected.TrySetResult();
            long since = _clock.PreciseMilliseconds;
            CloseReason reason = await ServeAsync(link).ConfigureAwait(false);
            _slot.Leave();
            if (_closing.IsCancellationRequested)
            {
                return;
            }

            ClientLog.Disconnected(_logger, _endpointUrl, reason);
            Raise(nameof(Disconnected), Disconnected, reason, static (subscriber, r) => subscriber(r));
            if (!_options.Reconnect)
            {
                var lost = new OpcUaException(
                    StatusCodes.BadServerNotConnected,
                    $"The connection to {_endpointUrl} has ended, and the client does not reconnect: {reason}");
                _slot.End(lost);
                _publisher.End(lost);
                return;
            }

            // A server that drops each connection at once must not be tried in a tight loop.
            delays.ResetAfter(TimeSpan.FromMilliseconds(_clock.PreciseMilliseconds - since));

            ClientSession before = link.Session;
            if (await ReconnectAsync(delays).ConfigureAwait(false) is not { } next)
            {
                return;
            }

            link = next;
            recovery = link.Session == before ? SessionRecovery.Resumed : SessionRecovery.Replaced;
            ClientLog.Reconnected(_logger, _endpointUrl, recovery);
        }
    }

    // Until the connection has ended: keeps the session alive and publishes.
    private async Task<CloseReason> ServeAsync(SessionLink link)
    {
        using var ended = new CancellationTokenSource();
        Task alive = KeepAliveAsync(link, ended.Token);
        Task publishing = _publisher.RunAsync(link, ended.Token);
        CloseReason reason = await link.Connection.Closed.ConfigureAwait(false);
        await ended.CancelAsync().ConfigureAwait(false);
        await alive.ConfigureAwait(false);
        await publishing.ConfigureAwait(false);
        return reason;
    }

    // Reads the server's state: a peer that is gone does not answer, and a session without requests would end. A peer that is sending is
    // alive, even if a large response delays the answer. So may be a peer that serves one request at a time while it executes a method: it
    // has the time of that request. Calls made while it is already silent give it no more time, or it could always have one.
    private async Task KeepAliveAsync(SessionLink link, CancellationToken cancellationToken)
    {
        const uint State = 2259;
        if (_options.KeepAliveInterval == TimeSpan.Zero)
        {
            return;
        }

        TimeSpan half = link.Session.Timeout / 2;
        using var timer = new PeriodicTimer(_options.KeepAliveInterval < half ? _options.KeepAliveInterval : half, _clock.Time);
        var pool = new Stack<PendingRequest<ReadResponse>>();
        ReadValueId[] items = [new() { NodeId = new NodeId(0, State), AttributeId = (uint)AttributeId.Value }];
        long heard = -1;
        long heardAt = 0;
        long callsUntil = 0;
        try
        {
            while (await timer.WaitForNextTickAsync(cancellationToken).ConfigureAwait(false))
            {
                (long received, long now) = (link.Connection.BytesReceived, _clock.NowMilliseconds);
                ValueTask<ServiceResult<ReadResponse>> reading = link.SendAsync(
                    new ReadRequest { TimestampsToReturn = TimestampsToReturn.Neither, NodesToRead = items },
                    pool,
                    CancellationToken.None,
                    new RequestTerms((int)timer.Period.TotalMilliseconds));

                // For calls before this read; less if one of them was abandoned.
                long until = link.Channel.CallsUntil;
                (callsUntil, heardAt) = received != heard ? (until, now) : (Math.Min(callsUntil, until), heardAt);
                heard = received;
                ServiceResult<ReadResponse> result = await reading.ConfigureAwait(false);

                // If too much waits to be sent, the read fails at once: the time before it counts.
                bool isLate = result.Fate == RequestFate.Unsent
                    ? now - heardAt >= timer.Period.TotalMilliseconds && !link.IsOver(result.Fate, result.Status)
                    : result.Fate == RequestFate.Unanswered;
                bool isSilent = isLate && link.Connection.BytesReceived == received && _clock.NowMilliseconds >= callsUntil;
                if (isSilent || SessionLink.IsSessionLost(result.Status))
                {
                    link.Break($"the server did not answer the keep-alive: {result.Status}.");
                    return;
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The connection has ended.
        }
    }

    // Null if the client was closed. Each obstacle is a warning, including one that appears when the previous one is resolved: after
    // an operator trusts a certificate, the log must show that the password is wrong. None is repeated, and their number is bounded: a
    // server's text may differ each time.
    private async Task<SessionLink?> ReconnectAsync(ReconnectBackoff delays)
    {
        var told = new HashSet<string>(StringComparer.Ordinal);
        while (true)
        {
            try
            {
                await Task.Delay(delays.Next(), _clock.Time, _closing.Token).ConfigureAwait(false);
                SessionLink link = await _opener.OpenAsync(_closing.Token).ConfigureAwait(false);
                try
                {
                    await _publisher.RestoreAsync(link, _closing.Token).ConfigureAwait(false);
                }
                catch
                {
                    link.Connection.Abort(CloseReason.LocalClosed);
                    throw;
                }

                return Publish(link) ? link : null;
            }
            catch (Exception e)
            {
                if (_closing.IsCancellationRequested)
                {
                    return null;
                }

                bool isNew = told.Count < MaxToldObstacles && told.Add(e.Message);
                ClientLog.ConnectFailed(_logger, isNew ? LogLevel.Warning : LogLevel.Debug, _endpointUrl, ProblemOf(e));
            }
        }
    }

    // Without the beginning, which the log line already has.
    private static string ProblemOf(Exception e)
    {
        string beginning = e is EndpointException failed ? $"Cannot connect to {failed.Endpoint}: " : string.Empty;
        return e.Message.StartsWith(beginning, StringComparison.Ordinal) ? e.Message[beginning.Length..] : e.Message;
    }

    // False if the client was closed in the meantime.
    private bool Publish(SessionLink link)
    {
        Volatile.Write(ref _namespaces, link.Namespaces);
        if (_slot.TryEnter(link))
        {
            return true;
        }

        link.Connection.Abort(CloseReason.LocalClosed);
        return false;
    }

    /// <summary>The active session; waits for one while the client connects.</summary>
    /// <param name="after">A session whose connection has ended; null for none.</param>
    /// <param name="service">For the message.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="OpcUaException">There was none in time, or there will be none.</exception>
    private async ValueTask<SessionLink> LinkAsync(SessionLink? after, string service, CancellationToken cancellationToken)
    {
        Task<SessionLink> next = _slot.NextAsync(after);
        try
        {
            return await next.WaitAsync(_options.RequestTimeout, _clock.Time, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw ServiceFailure.Create(StatusCodes.BadServerNotConnected, service, _endpointUrl, RequestFate.Unsent);
        }
    }

    /// <summary>Sends operations in parts that the server accepts in one request each. As <see cref="LimitsAsync"/>.</summary>
    /// <param name="all">The operations.</param>
    /// <param name="bulk">The kind of request.</param>
    /// <param name="service">For the message.</param>
    /// <param name="send">Sends a part; called again with a smaller part if it throws because there are too many operations.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <param name="most">Maximum size of a part. Defaults to the server's limit.</param>
    internal async ValueTask InPartsAsync<T>(
        IReadOnlyList<T> all, Bulk bulk, string service, Func<T[], Task> send, CancellationToken cancellationToken,
        int most = int.MaxValue)
    {
        for (int done = 0; done < all.Count;)
        {
            OperationLimits limits = await LimitsAsync(service, cancellationToken).ConfigureAwait(false);
            T[] part = [.. all.Skip(done).Take(Math.Min(most, limits[bulk]))];
            try
            {
                await send(part).ConfigureAwait(false);
            }
            catch (OpcUaException e) when (!e.MayHaveExecuted && limits.TryLower(bulk, part.Length, e.Status))
            {
                continue;
            }

            done += part.Length;
        }
    }

    /// <summary>Logs once that values cannot be decoded: a server that sends one does so repeatedly.</summary>
    internal void TellUndecodable(string node)
    {
        if (Interlocked.Exchange(ref _hasToldUndecodable, 1) == 0)
        {
            ClientLog.Undecodable(_logger, _endpointUrl, PeerText.Escape(node));
        }
    }

    /// <summary>
    /// The server's limits for one request; waits for a session while the client connects. Callers that name nodes take the namespaces
    /// first: those of the session that is waited for may differ.
    /// </summary>
    /// <exception cref="OpcUaException">There was no session in time, or there will be none.</exception>
    private ValueTask<OperationLimits> LimitsAsync(string service, CancellationToken cancellationToken) =>
        _slot.Current is { } link ? new(link.Limits) : NextLimitsAsync(service, cancellationToken);

    private async ValueTask<OperationLimits> NextLimitsAsync(string service, CancellationToken cancellationToken) =>
        (await NextLinkAsync(service, cancellationToken).ConfigureAwait(false)).Limits;

    // The wait has a separate activity: the request's activity begins after it.
    private ValueTask<SessionLink> NextLinkAsync(string service, CancellationToken cancellationToken)
    {
        Activity? outer = Activity.Current;
        Activity? activity = OpcUaTraces.Start(service, _endpointUrl);
        ValueTask<SessionLink> next = LinkAsync(after: null, service, cancellationToken);
        return activity is null ? next : OpcUaTraces.EndWithAsync(next, activity, outer);
    }

    /// <summary>
    /// Sends a request on the active session. A request that could not be sent because the connection had just ended waits for the next
    /// session, if node ids mean the same there.
    /// </summary>
    /// <exception cref="OpcUaException">The request failed as a whole.</exception>
    private ValueTask<ServiceResult<TResponse>> InvokeAsync<TRequest, TResponse>(
        in TRequest request, Stack<PendingRequest<TResponse>> pool, string service, CancellationToken cancellationToken,
        RequestTerms terms = default, in TResponse into = default, NamespaceTable? namespaces = null)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage => OpcUaTraces.IsOn
            ? InvokeTracedAsync(request, pool, service, terms, into, namespaces, cancellationToken)
            : InvokeCoreAsync(request, pool, service, terms, into, namespaces, cancellationToken);

    private ValueTask<ServiceResult<TResponse>> InvokeTracedAsync<TRequest, TResponse>(
        TRequest request, Stack<PendingRequest<TResponse>> pool, string service, RequestTerms terms, TResponse into,
        NamespaceTable? namespaces, CancellationToken cancellationToken)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        Activity? outer = Activity.Current;
        Activity? activity = OpcUaTraces.Start(service, _endpointUrl);
        ValueTask<ServiceResult<TResponse>> result =
            InvokeCoreAsync(request, pool, service, terms, into, namespaces, cancellationToken);
        return activity is null ? result : OpcUaTraces.EndWithAsync(result, activity, outer);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ServiceResult<TResponse>> InvokeCoreAsync<TRequest, TResponse>(
        TRequest request, Stack<PendingRequest<TResponse>> pool, string service, RequestTerms terms, TResponse into,
        NamespaceTable? namespaces, CancellationToken cancellationToken)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        // Read before the session: a table that is set in the meantime is not the table of the request's node ids.
        namespaces ??= Namespaces;
        terms = terms with { ContinuesOnLoop = _options.RunContinuationsOnLoop };
        SessionLink link = _slot.Current ?? await LinkAsync(after: null, service, cancellationToken).ConfigureAwait(false);
        while (true)
        {
            if (!link.Namespaces.Extends(namespaces))
            {
                throw NamespacesChanged(service);
            }

            ServiceResult<TResponse> result = await link.SendAsync(request, pool, cancellationToken, terms, into)
                .ConfigureAwait(false);
            if (result.Status.IsGood)
            {
                return result;
            }

            if (link.IsOver(result.Fate, result.Status))
            {
                link = await LinkAsync(link, service, cancellationToken).ConfigureAwait(false);
                continue;
            }

            BreakIfLost(link, result.Status, result.Fate);
            throw ServiceFailure.Create(result.Status, service, _endpointUrl, result.Fate);
        }
    }

    /// <summary>As <see cref="InvokeAsync"/>, for requests that are rare.</summary>
    private async ValueTask<TResponse> InvokeOnceAsync<TRequest, TResponse>(
        TRequest request, string service, CancellationToken cancellationToken, NamespaceTable? namespaces = null)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage =>
        (await InvokeAsync(
            request, new Stack<PendingRequest<TResponse>>(), service, cancellationToken, namespaces: namespaces).ConfigureAwait(false))
        .Response;

    private OpcUaException Failed(string service, StatusCode status, RequestFate fate = RequestFate.Answered) =>
        ServiceFailure.Create(status, service, _endpointUrl, fate);

    private OpcUaException NamespacesChanged(string service) => new(
        StatusCodes.BadServerNotConnected,
        $"{service} of {_endpointUrl} was not sent: the server came back with different namespaces, in which the request's node ids may be "
        + "those of other nodes. Create them again from Namespaces.");

    /// <summary>Calls the subscribers of an event of the client, or of a subscription; their exceptions are logged.</summary>
    internal void Raise<TSubscriber, TArgument>(
        string name, TSubscriber? subscribers, TArgument argument, Action<TSubscriber, TArgument> call)
        where TSubscriber : Delegate
    {
        foreach (Exception failure in Subscribers.Call(subscribers, argument, call))
        {
            ClientLog.SubscriberThrew(_logger, failure, name);
        }
    }
}
