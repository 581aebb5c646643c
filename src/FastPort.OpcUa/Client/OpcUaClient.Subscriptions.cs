using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <content>Subscriptions (OPC 10000-4, 5.14).</content>
public sealed partial class OpcUaClient
{
    private uint _lastHandle;

    internal ILogger Logger => _logger;

    /// <summary>Creates a subscription, without items.</summary>
    /// <param name="options">The requested options. Defaults to the default values.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The subscription. Dispose it to end it; it also ends with the client.</returns>
    /// <exception cref="OpcUaException">The server refuses.</exception>
    public async ValueTask<OpcUaSubscription> SubscribeAsync(
        SubscriptionOptions? options = null, CancellationToken cancellationToken = default)
    {
        options ??= new SubscriptionOptions();
        ArgumentOutOfRangeException.ThrowIfLessThan(options.Capacity, 1, nameof(options));
        var subscription = new OpcUaSubscription(this, options, _publisher.Wake);
        _publisher.BeginCreate();
        try
        {
            while (true)
            {
                (SessionLink link, ServiceResult<CreateSubscriptionResponse> result) =
                    await SendAsync<CreateSubscriptionRequest, CreateSubscriptionResponse>(
                        () => subscription.CreateRequest, "CreateSubscription", cancellationToken).ConfigureAwait(false);
                subscription.Accept(ServiceFailure.Check(result, "CreateSubscription", _endpointUrl));
                if (_publisher.TryAdd(subscription, link))
                {
                    return subscription;
                }

                // The connection ended right after the answer: the subscription is created on the next one.
            }
        }
        finally
        {
            _publisher.EndCreate();
        }
    }

    internal uint NextHandle() => Interlocked.Increment(ref _lastHandle);

    internal async ValueTask EndSubscriptionAsync(OpcUaSubscription subscription)
    {
        // The server no longer has an ended subscription: its id may belong to another one.
        if (_publisher.Remove(subscription))
        {
            await _publisher.DeleteAsync(subscription, _slot.Current).ConfigureAwait(false);
        }

        subscription.End(error: null);
    }

    /// <summary>Sends a request that contains ids of the session, created for the session on which it is sent.</summary>
    /// <param name="make">Makes it.</param>
    /// <param name="service">For the message.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <param name="undo">
    /// Undoes the effect of an abandoned request when its answer comes. Defaults to none: the server is asked to cancel it.
    /// </param>
    internal async ValueTask<(SessionLink Link, ServiceResult<TResponse> Result)> SendAsync<TRequest, TResponse>(
        Func<TRequest> make, string service, CancellationToken cancellationToken, Action<SessionLink, TRequest, TResponse>? undo = null)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        SessionLink? link = null;
        while (true)
        {
            link = await LinkAsync(link, service, cancellationToken).ConfigureAwait(false);
            TRequest request = make();
            ServiceResult<TResponse> result = undo is null
                ? await link.SendOnceAsync<TRequest, TResponse>(request, cancellationToken).ConfigureAwait(false)
                : await SendAsync(link, request, undo, cancellationToken).ConfigureAwait(false);
            if (link.IsOver(result.Fate, result.Status))
            {
                continue;
            }

            BreakIfLost(link, result.Status, result.Fate);
            return (link, result);
        }
    }

    private static async ValueTask<ServiceResult<TResponse>> SendAsync<TRequest, TResponse>(
        SessionLink link, TRequest request, Action<SessionLink, TRequest, TResponse> undo, CancellationToken cancellationToken)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        cancellationToken.ThrowIfCancellationRequested();
        Task<ServiceResult<TResponse>> sending =
            link.SendOnceAsync<TRequest, TResponse>(request, CancellationToken.None).AsTask();
        try
        {
            return await sending.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            _ = UndoAsync();
            throw;
        }

        async Task UndoAsync()
        {
            ServiceResult<TResponse> late = await sending.ConfigureAwait(false);
            if (late.Status.IsGood)
            {
                undo(link, request, late.Response);
            }
        }
    }

    private static void BreakIfLost(SessionLink link, StatusCode status, RequestFate fate)
    {
        if (fate == RequestFate.Answered && SessionLink.IsSessionLost(status))
        {
            link.Break($"the server does not know the session: {status}.");
        }
    }
}
