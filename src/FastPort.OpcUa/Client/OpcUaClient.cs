using FastPort.Connections;
using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.OpcUa.Client;

/// <summary>
/// A session with an OPC UA server. Its members are safe from any thread; many requests can be in flight at a time. When the connection is
/// lost, the client reconnects automatically, and its subscriptions continue. Requests made in the meantime wait, at most
/// <see cref="OpcUaClientOptions.RequestTimeout"/>. If the server comes back with different namespace indexes, they fail instead with
/// BadServerNotConnected: their node ids may be those of other nodes.
/// </summary>
public sealed partial class OpcUaClient : IAsyncDisposable
{
    private readonly string _endpointUrl;
    private readonly OpcUaClientOptions _options;
    private readonly ILogger _logger;
    private readonly ConnectionClock _clock;
    private readonly SessionOpener _opener;
    private readonly LinkSlot _slot = new();
    private readonly CancellationTokenSource _closing = new();

    // The first session is active, and its event has been raised.
    private readonly TaskCompletionSource _hasConnected = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Publisher _publisher;
    private NamespaceTable _namespaces = NamespaceTable.Standard;
    private Task? _running;
    private int _disposed;

    private OpcUaClient(string endpointUrl, OpcUaClientOptions options, ILogger logger, TimeProvider? time)
    {
        _endpointUrl = endpointUrl;
        _options = options;
        _logger = logger;
        _clock = new ConnectionClock(time);
        _opener = new SessionOpener(endpointUrl, options, _clock, logger);
        _publisher = new Publisher(endpointUrl, options, _clock.Time, logger);
    }

    /// <summary>
    /// The connection has ended, with the reason. Requests in flight have failed, or are about to. Raised before the client tries to
    /// reconnect; a handler must not block.
    /// </summary>
    public event Action<CloseReason>? Disconnected;

    /// <summary>
    /// The client has a session: its first one (<see cref="SessionRecovery.None"/>), or it has reconnected and its subscriptions continue.
    /// Raised once for each connection, in turn with <see cref="Disconnected"/>. The first session of a client created by
    /// <c>ConnectAsync</c> begins before the event can be subscribed to; services that a host creates before it starts receive the event
    /// for their client's first session. A handler must not block.
    /// </summary>
    public event Action<SessionRecovery>? Connected;

    /// <summary>The endpoint that the client was created for.</summary>
    public string EndpointUrl => _endpointUrl;

    /// <summary>Whether the client has a session now.</summary>
    public bool IsConnected => _slot.Current is not null;

    /// <summary>
    /// The server's namespaces, read when the client last connected. Compare them after <see cref="Connected"/> with
    /// <see cref="SessionRecovery.Replaced"/>: earlier node ids may now have other indexes. The client maps those of monitored items.
    /// </summary>
    public NamespaceTable Namespaces => Volatile.Read(ref _namespaces);

    internal ClientChannel Channel => _slot.Current!.Channel;

    /// <summary>The current connection, for tests.</summary>
    internal Connection Connection => _slot.Current!.Connection;

    /// <summary>
    /// Connects to a server, opens a secure channel, and creates and activates a session. Makes one attempt, or with
    /// <see cref="ClientOptions.RetryConnect"/> retries until it has a session.
    /// </summary>
    /// <param name="endpointUrl">
    /// The endpoint: <c>opc.tcp://host:4840/path</c>, or <c>inproc://name</c> of a server in the same process.
    /// </param>
    /// <param name="options">Options. Do not change them afterwards. Defaults to the default values.</param>
    /// <param name="loggerFactory">Creates the client's logger. Defaults to no logging.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="FormatException"><paramref name="endpointUrl"/> is not an endpoint.</exception>
    /// <exception cref="FastPortOptionsException">Options are not allowed; the message names each.</exception>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="OpcUaException">The server refuses the channel or the session.</exception>
    public static Task<OpcUaClient> ConnectAsync(
        string endpointUrl,
        OpcUaClientOptions? options = null,
        ILoggerFactory? loggerFactory = null,
        CancellationToken cancellationToken = default) =>
        ConnectAsync(endpointUrl, options, loggerFactory, time: null, cancellationToken);

    /// <summary>Closes the session with its subscriptions, and the connection.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
        {
            return;
        }

        // Taken and ended at once: the task that connects may just be about to enter the next session.
        SessionLink? link = _slot.End(new OpcUaException(StatusCodes.BadSessionClosed, $"The client of {_endpointUrl} is closed."));
        await _closing.CancelAsync().ConfigureAwait(false);
        if (link is not null)
        {
            await CloseAsync(link).ConfigureAwait(false);
        }

        if (_running is not null)
        {
            await _running.ConfigureAwait(false);
        }

        _publisher.End(error: null);
        _opener.Dispose();
        _closing.Dispose();
        _clock.Dispose();
    }

    internal static async Task<OpcUaClient> ConnectAsync(
        string endpointUrl, OpcUaClientOptions? options, ILoggerFactory? loggerFactory, TimeProvider? time,
        CancellationToken cancellationToken)
    {
        options ??= new OpcUaClientOptions();
        options.ThrowIfInvalid();
        Endpoint.Parse(endpointUrl);
        ILogger logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<OpcUaClient>();
        var client = new OpcUaClient(endpointUrl, options, logger, time);
        try
        {
            await client.StartAsync(cancellationToken).ConfigureAwait(false);
            await client._hasConnected.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
            return client;
        }
        catch
        {
            await client.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    private async Task CloseAsync(SessionLink link)
    {
        // The connection ends regardless of the answer.
        await link.SendOnceAsync<CloseSessionRequest, CloseSessionResponse>(
            new CloseSessionRequest { DeleteSubscriptions = true },
            CancellationToken.None,
            new RequestTerms((int)_options.ConnectTimeout.TotalMilliseconds)).ConfigureAwait(false);
        link.Channel.Close();
        await link.Connection.Closed.ConfigureAwait(false);
    }
}
