using FastPort.Connections;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcBridge.Sources;

/// <summary>
/// Says when a server's nodes have changed, as far as it tells: a subscription of its own, as readers need it as well as subscribers, and
/// only while tags are absent.
/// </summary>
internal sealed class ModelWatch : IAsyncDisposable
{
    // The interval bounds how often the tags are looked for: a server may tell of changes all the time.
    private static readonly SubscriptionOptions Terms =
        new() { PublishingInterval = TimeSpan.FromSeconds(1), KeepAliveCount = 10, LifetimeCount = 60 };

    private readonly OpcUaClient _client;
    private OpcUaSubscription? _subscription;
    private TaskCompletionSource _changed = NewSignal();

    private ModelWatch(OpcUaClient client)
    {
        _client = client;
        client.Disconnected += OnDisconnected;
    }

    /// <summary>Asks the server. One that refuses is told in the log, and all that is waited for is time.</summary>
    public static async Task<ModelWatch> StartAsync(
        OpcUaClient client, string endpoint, ILogger logger, CancellationToken cancellationToken)
    {
        var watch = new ModelWatch(client);
        string problem;
        try
        {
            OpcUaSubscription subscription = await client.SubscribeAsync(Terms, cancellationToken).ConfigureAwait(false);
            watch._subscription = subscription;
            subscription.ModelChanged += _ => watch.Signal();

            // Events are lost with values.
            subscription.ValuesLost += (_, _) => watch.Signal();
            StatusCode status = await subscription.WatchModelAsync(cancellationToken).ConfigureAwait(false);
            if (!status.IsBad)
            {
                return watch;
            }

            problem = $"{status}";
        }
        catch (OpcUaException e)
        {
            problem = e.Message;
        }
        catch (OperationCanceledException)
        {
            await watch.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        BridgeLog.ModelNotWatched(logger, endpoint, problem);
        await watch.UnsubscribeAsync().ConfigureAwait(false);
        return watch;
    }

    /// <summary>Waits until nodes may have changed, or the connection has ended: true. False if the delay has passed before.</summary>
    public async Task<bool> WaitAsync(TimeSpan delay, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            await Volatile.Read(ref _changed).Task.WaitAsync(delay, time, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return false;
        }

        // What is told until now, the caller finds when it looks.
        Volatile.Write(ref _changed, NewSignal());
        return true;
    }

    public async ValueTask DisposeAsync()
    {
        _client.Disconnected -= OnDisconnected;
        await UnsubscribeAsync().ConfigureAwait(false);
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private void OnDisconnected(CloseReason reason) => Signal();

    private void Signal() => Volatile.Read(ref _changed).TrySetResult();

    private ValueTask UnsubscribeAsync() => _subscription?.DisposeAsync() ?? ValueTask.CompletedTask;
}
