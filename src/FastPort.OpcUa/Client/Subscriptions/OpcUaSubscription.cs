using System.Threading.Channels;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// A subscription: the server sends the values of its monitored items when they change. Its members are safe from any thread. It survives a
/// lost connection: the server has kept it, or transfers it to the new session, or the client recreates it with all its items. If the
/// server refuses that for now, the client retries until it accepts; calls in the meantime fail with BadSubscriptionIdInvalid.
/// </summary>
public sealed partial class OpcUaSubscription : IAsyncDisposable
{
    private readonly OpcUaClient _client;
    private readonly ChangeQueue _changes;

    // Guards the server's last answers, and the items.
    private readonly Lock _gate = new();
    private SubscriptionOptions _options;
    private int _isDisposed;

    // Counts the creations of the subscription: answers to requests of an earlier one do not count.
    private int _epoch;

    internal OpcUaSubscription(OpcUaClient client, SubscriptionOptions options, Action caughtUp)
    {
        _client = client;
        _options = options;
        _changes = new ChangeQueue(options.Capacity, caughtUp);
    }

    /// <summary>
    /// Values may have been lost, with the reason: the subscription was recreated after the connection or its lifetime had ended (the new
    /// one begins with the current value of each item), or a missing message could not be retrieved. Raised before later values are written
    /// to <see cref="Changes"/>; a handler must not block.
    /// </summary>
    public event Action<OpcUaSubscription, StatusCode>? ValuesLost;

    /// <summary>
    /// The server has sent a message: its changes, if any, wait in <see cref="Changes"/>. Also raised for a keep-alive message, which
    /// confirms the last reported values, and when the server refuses to recreate the subscription or some of its items: each of these
    /// items then has a change with the reason as its status. Raised by the receiving task; a handler must not block, and may read
    /// <see cref="Changes"/>.
    /// </summary>
    public event Action<OpcUaSubscription>? Reported;

    /// <summary>
    /// The changes, in the order in which the server has sent them. Completed when the subscription or the client is disposed, and with an
    /// <see cref="OpcUaException"/> when the subscription has ended permanently: another client has taken it, or the server no longer has
    /// the service. See <see cref="SubscriptionOptions.Capacity"/> for what happens if the changes are not read.
    /// </summary>
    public ChannelReader<DataChange> Changes => _changes;

    /// <summary>The requested options.</summary>
    public SubscriptionOptions Options => Volatile.Read(ref _options);

    /// <summary>
    /// The server's id. It changes when the subscription is recreated; if the server has ended the subscription, it is 0 until then.
    /// </summary>
    public uint Id { get; private set; }

    /// <summary>How often the server sends changes.</summary>
    public TimeSpan PublishingInterval { get; private set; }

    /// <summary>After this number of intervals without a change, the server sends a keep-alive message.</summary>
    public uint KeepAliveCount { get; private set; }

    /// <summary>After this number of intervals without a Publish request, the server ends the subscription.</summary>
    public uint LifetimeCount { get; private set; }

    internal bool IsFull => _changes.IsFull;

    internal CreateSubscriptionRequest CreateRequest
    {
        get
        {
            SubscriptionOptions options = Options;
            return new CreateSubscriptionRequest
            {
                RequestedPublishingInterval = options.PublishingInterval.TotalMilliseconds,
                RequestedLifetimeCount = options.LifetimeCount,
                RequestedMaxKeepAliveCount = options.KeepAliveCount,
                MaxNotificationsPerPublish = options.MaxNotificationsPerPublish,
                PublishingEnabled = options.PublishingEnabled,
                Priority = options.Priority,
            };
        }
    }

    /// <summary>Changes the subscription (OPC 10000-4, 5.14.3 and 5.14.4). Capacity and timestamps stay as they are.</summary>
    /// <param name="options">The new options.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OpcUaException">The server refuses.</exception>
    public async ValueTask ModifyAsync(SubscriptionOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        options = options with { Capacity = Options.Capacity, Timestamps = Options.Timestamps };
        (int epoch, ModifySubscriptionResponse terms) = await InvokeAsync<ModifySubscriptionRequest, ModifySubscriptionResponse>(
            () => new ModifySubscriptionRequest
            {
                SubscriptionId = Id,
                RequestedPublishingInterval = options.PublishingInterval.TotalMilliseconds,
                RequestedLifetimeCount = options.LifetimeCount,
                RequestedMaxKeepAliveCount = options.KeepAliveCount,
                MaxNotificationsPerPublish = options.MaxNotificationsPerPublish,
                Priority = options.Priority,
            },
            "ModifySubscription",
            cancellationToken).ConfigureAwait(false);
        lock (_gate)
        {
            if (epoch == _epoch)
            {
                SetTerms(terms.RevisedPublishingInterval, terms.RevisedLifetimeCount, terms.RevisedMaxKeepAliveCount);
            }

            Volatile.Write(ref _options, options with { PublishingEnabled = _options.PublishingEnabled });
        }

        if (options.PublishingEnabled != Options.PublishingEnabled)
        {
            await SetPublishingAsync(options.PublishingEnabled, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Ends the subscription at the server and completes <see cref="Changes"/>. A lost connection is not an error.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
        {
            await _client.EndSubscriptionAsync(this).ConfigureAwait(false);
        }
    }

    /// <summary>Nothing comes any more.</summary>
    internal void End(Exception? error) => _changes.End(error);

    internal void Accept(in CreateSubscriptionResponse created)
    {
        lock (_gate)
        {
            Id = created.SubscriptionId;
            SetTerms(created.RevisedPublishingInterval, created.RevisedLifetimeCount, created.RevisedMaxKeepAliveCount);
            _epoch++;
            foreach (OpcUaMonitoredItem item in _items.Values)
            {
                // Ids of the previous subscription are invalid, or mean other items, in this one.
                item.Lose();
            }
        }
    }

    private async ValueTask SetPublishingAsync(bool enabled, CancellationToken cancellationToken)
    {
        (_, SetPublishingModeResponse response) = await InvokeAsync<SetPublishingModeRequest, SetPublishingModeResponse>(
            () => new SetPublishingModeRequest { PublishingEnabled = enabled, SubscriptionIds = [Id] },
            "SetPublishingMode",
            cancellationToken).ConfigureAwait(false);
        StatusCode status = response.Results is [var one] ? one : StatusCodes.BadUnknownResponse;
        if (status.IsBad)
        {
            throw ServiceFailure.Create(status, "SetPublishingMode", _client.EndpointUrl);
        }

        lock (_gate)
        {
            Volatile.Write(ref _options, _options with { PublishingEnabled = enabled });
        }
    }

    private void SetTerms(double interval, uint lifetimeCount, uint keepAliveCount)
    {
        PublishingInterval = Durations.OfMilliseconds(interval);
        (LifetimeCount, KeepAliveCount) = (lifetimeCount, keepAliveCount);
    }

    // Sends a request that contains ids of the server. If the subscription was recreated in the meantime, the ids have changed and the
    // request is sent again.
    private async ValueTask<(int Epoch, TResponse Response)> InvokeAsync<TRequest, TResponse>(
        Func<TRequest> make, string service, CancellationToken cancellationToken, Action<SessionLink, TRequest, TResponse>? undo = null)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        while (true)
        {
            int epoch = 0;
            (_, ServiceResult<TResponse> result) = await _client.SendAsync<TRequest, TResponse>(
                () =>
                {
                    lock (_gate)
                    {
                        epoch = _epoch;
                        return make();
                    }
                },
                service,
                cancellationToken,
                undo).ConfigureAwait(false);
            bool isStale;
            lock (_gate)
            {
                isStale = epoch != _epoch;
            }

            if (isStale && result.Fate == RequestFate.Answered)
            {
                continue;
            }

            return (epoch, ServiceFailure.Check(result, service, _client.EndpointUrl));
        }
    }

    private void RaiseReported() =>
        _client.Raise(nameof(Reported), Reported, this, static (subscriber, subscription) => subscriber(subscription));

    private void RaiseValuesLost(StatusCode why) => _client.Raise(
        nameof(ValuesLost),
        ValuesLost,
        (Subscription: this, Why: why),
        static (subscriber, loss) => subscriber(loss.Subscription, loss.Why));
}
