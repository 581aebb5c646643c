using FastPort.Tags.Wire;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags;

/// <summary>
/// Reads, writes and subscribes to tags of a bridge or another server with a <see cref="TagServer"/>, and publishes the program's
/// tags. After a lost connection it automatically reconnects, resolves, subscribes and publishes again. Safe from any thread.
/// </summary>
public sealed partial class TagClient : ITagClient, IAsyncDisposable
{
    private readonly FastPortClient _client;
    private readonly FastPortClientOptions _options;
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _closing = new();

    // Under the gate.
    private readonly List<TagSubscription> _subscriptions = [];
    private readonly List<TagPublication> _publications = [];
    private TaskCompletionSource<Session> _connected = NewConnected();

    private TagClient(FastPortClientOptions options, ILoggerFactory? loggerFactory)
    {
        _options = options;
        var handlers = new MessageHandlers();
        handlers.MapInline(TagMessageType.Update, OnUpdate, "TagUpdate");
        handlers.MapQueued(TagMessageType.Write, OnWriteAsync, "WriteTags");
        _client = new FastPortClient(options, handlers, loggerFactory);
        _client.Connected += OnConnected;
        _client.Disconnected += OnDisconnected;
    }

    /// <summary>Raised when the client has connected or reconnected. A handler must not block.</summary>
    public event Action? Connected;

    /// <summary>Raised when the connection is lost, with the reason. A handler must not block.</summary>
    public event Action<CloseReason>? Disconnected;

    /// <summary>Whether the client is connected.</summary>
    public bool IsConnected => Session is not null;

    internal Session? Session => _client.Session;

    /// <summary>Connects to a tag server.</summary>
    /// <param name="endpoint">Its address, for example tcp://127.0.0.1:6629.</param>
    /// <param name="loggerFactory">Creates the client's logger. Defaults to no logging.</param>
    /// <param name="cancellationToken">Stops connecting.</param>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    public static Task<TagClient> ConnectAsync(
        string endpoint, ILoggerFactory? loggerFactory = null, CancellationToken cancellationToken = default) =>
        ConnectAsync(new FastPortClientOptions { Endpoint = endpoint }, loggerFactory, cancellationToken);

    /// <summary>Connects to a tag server.</summary>
    /// <param name="options">How to connect. Do not change them afterwards.</param>
    /// <param name="loggerFactory">Creates the client's logger. Defaults to no logging.</param>
    /// <param name="cancellationToken">Stops connecting.</param>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    public static async Task<TagClient> ConnectAsync(
        FastPortClientOptions options, ILoggerFactory? loggerFactory = null, CancellationToken cancellationToken = default)
    {
        var client = new TagClient(options, loggerFactory);
        try
        {
            await client._client.ConnectAsync(cancellationToken).ConfigureAwait(false);
            return client;
        }
        catch
        {
            await client.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Ends all subscriptions and publications, and closes the connection.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_closing.IsCancellationRequested)
        {
            return;
        }

        // Even if a call of the program's sources fails, the connection is closed.
        await _closing.CancelAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        TagPublication[] publications;
        lock (_gate)
        {
            publications = [.. _publications];
        }

        await Task.WhenAll(publications.Select(static publication => publication.DisposeAsync().AsTask())).ConfigureAwait(false);
        await _client.DisposeAsync().ConfigureAwait(false);
        lock (_gate)
        {
            _connected.TrySetException(Closed());
            _subscriptions.ForEach(static subscription => subscription.Complete());
            _subscriptions.Clear();
        }
    }

    private static TaskCompletionSource<Session> NewConnected() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static RequestFailedException Closed() => new(RequestFailure.Closed, "The tag client is closed.");

    private void OnConnected(Session session)
    {
        TagSubscription[] subscriptions;
        TagPublication[] publications;
        lock (_gate)
        {
            if (!_connected.TrySetResult(session))
            {
                // It has the session before.
                _connected = NewConnected();
                _connected.SetResult(session);
            }

            subscriptions = [.. _subscriptions];
            publications = [.. _publications];
        }

        foreach (TagSubscription subscription in subscriptions)
        {
            _ = SubscribeAgainAsync(subscription, session);
        }

        foreach (TagPublication publication in publications)
        {
            DeclareAgain(publication, session);
        }

        // Last: a handler that throws must not prevent anything from being recreated.
        Connected?.Invoke();
    }

    private void OnDisconnected(Session session, CloseReason reason)
    {
        TagSubscription[] subscriptions;
        TagPublication[] publications;
        lock (_gate)
        {
            subscriptions = [.. _subscriptions];
            publications = [.. _publications];
        }

        Array.ForEach(subscriptions, subscription => subscription.Lose(session));
        Array.ForEach(publications, publication => publication.Lose(session));
        Disconnected?.Invoke(reason);
    }

    // The current session; waits for one while the client is connecting.
    private async ValueTask<Session> SessionAsync(CancellationToken cancellationToken)
    {
        Task<Session> connected;
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
            {
                throw Closed();
            }

            if (_connected.Task.IsCompletedSuccessfully && _connected.Task.Result != Session)
            {
                // That session accepts no more requests: it is over, or has said Goodbye and only answers earlier ones.
                _connected = NewConnected();
            }

            connected = _connected.Task;
        }

        if (connected.IsCompletedSuccessfully)
        {
            return connected.Result;
        }

        try
        {
            return await connected.WaitAsync(RequestTimeoutForWait, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new RequestFailedException(
                RequestFailure.NotConnected, $"There was no connection to {_options.Endpoint} within {_options.RequestTimeout}.");
        }
    }

    private void OnUpdate(ref InlineRequest request)
    {
        if (Contiguous.Read(request.Body, TagMessages.ReadUpdate) is not { } update)
        {
            return;
        }

        TagSubscription? subscription;
        Session session = request.Session;
        lock (_gate)
        {
            subscription = _subscriptions.Find(candidate => candidate.IsOn(session, update.Subscription));
        }

        subscription?.Receive(session, update.Subscription, update.Number, update.Handles, update.Samples, update.Dropped);
    }
}
