using System.Threading.Channels;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// A subscription: the server sends the values of its monitored items when they change. Its members are safe from any thread. It stays when
/// the connection is lost: the server has kept it, or hands it over to the new session, or the client makes it again with all its items. If
/// the server refuses that for now, the client asks again until it accepts; what callers ask for meanwhile fails with
/// BadSubscriptionIdInvalid.
/// </summary>
public sealed partial class OpcUaSubscription : IAsyncDisposable
{
    private readonly OpcUaClient _client;
    private readonly ChangeQueue _changes;

    // Guards what the server has said last, and the items.
    private readonly Lock _gate = new();
    private SubscriptionOptions _options;
    private int _isDisposed;

    // Counts how often the subscription was made: answers to requests of an earlier one do not count.
    private int _epoch;

    internal OpcUaSubscription(OpcUaClient client, SubscriptionOptions options, Action caughtUp)
    {
        _client = client;
        _options = options;
        _changes = new ChangeQueue(options.Capacity, caughtUp);
    }

    /// <summary>
    /// Values may have been lost, with the reason: the subscription was made again after the connection or its lifetime had ended (the new
    /// one begins with the current value of each item), or a message could not be had again. Raised before later values are written to
    /// <see cref="Changes"/>; a handler must not block.
    /// </summary>
    public event Action<OpcUaSubscription, StatusCode>? ValuesLost;

    /// <summary>
    /// The server has reported: the changes of its message, if it had any, wait in <see cref="Changes"/>. Also raised for a message that
    /// only says that the subscription is alive, so that everything has the value that was reported last; and when the server refuses to
    /// make the subscription again, or items of it: each has a change then with the reason as its status. Raised by the task that receives;
    /// a handler must not block, and may read <see cref="Changes"/>.
    /// </summary>
    public event Action<OpcUaSubscription>? Reported;

    /// <summary>
    /// The changes, in the order in which the server has sent them. Completed when the subscription or the client is disposed, and with an
    /// <see cref="OpcUaException"/> when the subscription has ended for good: another client has taken it, or the server no longer has the
    /// service. See <see cref="SubscriptionOptions.Capacity"/> for what happens if nobody reads.
    /// </summary>
    public ChannelReader<DataChange> Changes => _changes;

    /// <summary>What the subscription was asked to do.</summary>
    public SubscriptionOptions Options => Volatile.Read(ref _options);

    /// <summary>The server's id. Another one after the subscription was made again; 0 until then, if the server has ended it.</summary>
    public uint Id { get; private set; }

    /// <summary>How often the server sends what has changed.</summary>
    public TimeSpan PublishingInterval { get; private set; }

    /// <summary>After this number of intervals without a change the server says that the subscription is alive.</summary>
    public uint KeepAliveCount { get; private set; }

    /// <summary>After this number of intervals without a request for messages the server ends the subscription.</summary>
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
    /// <param name="options">What it is asked to do from now on.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
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

    /// <summary>Ends the subscription at the server and completes <see cref="Changes"/>. A lost connection is no error.</summary>
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
                // Ids of the subscription before mean nothing, or other items, in this one.
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

    // A request that names ids of the server. If the subscription was made again meanwhile, the ids have changed and it is sent again.
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
