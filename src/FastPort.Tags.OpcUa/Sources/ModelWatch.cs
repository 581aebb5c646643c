using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// Signals that a server's nodes have changed, if the server reports that. It has a separate subscription, because readers need it as well
/// as subscribers, and exists only while tags are absent.
/// </summary>
internal sealed class ModelWatch : IAsyncDisposable
{
    // The interval limits how often the tags are looked up: a server may report changes all the time.
    private static readonly SubscriptionOptions Terms =
        new() { PublishingInterval = TimeSpan.FromSeconds(1), KeepAliveCount = 10, LifetimeCount = 60 };

    private readonly OpcUaClient? _client;
    private OpcUaSubscription? _subscription;
    private TaskCompletionSource _changed = NewSignal();

    private ModelWatch(OpcUaClient? client)
    {
        _client = client;
        client?.Disconnected += OnDisconnected;
    }

    /// <summary>A watch without signals: <see cref="WaitAsync"/> waits for the delay only.</summary>
    public static ModelWatch WithoutSignals() => new(null);

    /// <summary>
    /// Subscribes to the server's model changes. If the server refuses, logs why; <see cref="WaitAsync"/> then waits for the delay only.
    /// </summary>
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

        OpcUaTagsLog.ModelNotWatched(logger, endpoint, problem);
        await watch.UnsubscribeAsync().ConfigureAwait(false);
        return watch;
    }

    /// <summary>Waits until nodes may have changed, or the connection has ended: true. False if the delay passes first.</summary>
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

        // The caller checks the server after this call, so it finds every change that was signaled before this line.
        Volatile.Write(ref _changed, NewSignal());
        return true;
    }

    public async ValueTask DisposeAsync()
    {
        _client?.Disconnected -= OnDisconnected;
        await UnsubscribeAsync().ConfigureAwait(false);
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private void OnDisconnected(CloseReason reason) => Signal();

    private void Signal() => Volatile.Read(ref _changed).TrySetResult();

    private ValueTask UnsubscribeAsync() => _subscription?.DisposeAsync() ?? ValueTask.CompletedTask;
}
