using FastPort.Clients;
using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Endpoints;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Sessions;
using FastPort.Telemetry;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort;

/// <summary>
/// A client that keeps a session open: many requests in flight, handlers for messages that the server sends unsolicited, heartbeats, and a
/// new session after a connection loss. A request in flight when the connection is lost fails and is never retried; a request made without
/// a connection waits for one, within its own timeout. Safe from any thread.
/// </summary>
public sealed partial class FastPortClient : IFastPortClient, ISessionHost, IAsyncDisposable
{
    // For aborted sessions and the task that connects, where an event's subscriber or a handler blocks.
    private static readonly TimeSpan BlockedTimeout = TimeSpan.FromSeconds(5);

    private readonly FastPortClientOptions _options;
    private readonly Endpoint _endpoint;
    private readonly ILogger _logger;
    private readonly ConnectionClock _clock;
    private readonly bool _ownsClock;
    private readonly SessionOpener _opener;
    private readonly TokenSource _tokens;
    private readonly ReconnectBackoff _delays;
    private long _connectedAt;

    // The session of requests; RunAsync, one task, connects.
    private readonly SessionSlot _slot = new();

    // Never disposed: the task that connects may outlive the close.
    private readonly CancellationTokenSource _closing = new();

    // Guards the two tasks. The locks of the slot and of the routing may be taken under it, never the reverse.
    private readonly Lock _gate = new();
    private Task? _running;
    private Task? _closed;

    /// <summary>
    /// Creates a client; <see cref="ConnectAsync"/> connects it. Until it is called, requests fail with
    /// <see cref="RequestFailure.NotConnected"/>.
    /// </summary>
    /// <param name="options">Options, checked here. Do not change them afterwards.</param>
    /// <param name="handlers">Handlers for messages that the server sends unsolicited. Defaults to none.</param>
    /// <param name="loggerFactory">Creates the client's logger. Defaults to no logging.</param>
    /// <param name="clock">
    /// A clock to share between clients of a process; the client does not dispose it. Defaults to the client's own clock.
    /// </param>
    /// <param name="transport">
    /// The transport, or several as a <see cref="TransportCollection"/>. Defaults to the library's transports, chosen by the options.
    /// </param>
    /// <exception cref="FastPortOptionsException">Options are out of range; the message lists all.</exception>
    public FastPortClient(
        FastPortClientOptions options,
        MessageHandlers? handlers = null,
        ILoggerFactory? loggerFactory = null,
        ConnectionClock? clock = null,
        ITransport? transport = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.Validate() is { Count: > 0 } problems)
        {
            throw new FastPortOptionsException(problems);
        }

        _options = options;
        var endpoint = Endpoint.Parse(options.Endpoint);
        _endpoint = endpoint;
        transport ??= new TransportCollection();
        if (transport is TransportCollection several)
        {
            transport = several.OrElse(options.CreateTransports);
        }

        var layers = EndpointLayers.Of(endpoint, transport);
        if (!transport.Supports(layers.Below.Scheme))
        {
            throw new ArgumentException(
                $"No transport serves '{endpoint.Scheme}' of {endpoint}; use {TransportSelection.Examples}.", nameof(options));
        }

        _ownsClock = clock is null;
        _clock = clock ?? new ConnectionClock();
        _logger = new ThrottledLogger((loggerFactory ?? NullLoggerFactory.Instance).CreateLogger("FastPort.Client"), _clock.Time);
        handlers ??= new MessageHandlers();
        handlers.Freeze();
        var settings = new SessionSettings
        {
            Options = options.Session,
            CreateDispatcher = new DispatchSettings { Handlers = handlers, FrameworkHandlers = _routing.Handlers }.Create,
            Clock = _clock,
            Logger = _logger,
            Host = this,
            Telemetry = new SessionTelemetry(Counters),
            ContinuesOnLoop = options.RunContinuationsOnLoop,
        };
        ConnectionSettings connections = options.Session.ToConnectionSettings(_clock, _logger);
        _opener = new SessionOpener(
            options,
            settings,
            layers.Connect(transport, connections, options.Tls, FrameWebSocket.Protocol));
        _tokens = new TokenSource(options, _clock);
        _delays = new ReconnectBackoff(options.ReconnectDelay, options.MaxReconnectDelay, new Random());
    }

    /// <summary>A session is ready for requests; raised once per session. A handler must not block.</summary>
    public event Action<Session>? Connected;

    /// <summary>
    /// A session that was ready has ended, with the reason; raised once per <see cref="Connected"/>. A handler must not block.
    /// </summary>
    public event Action<Session, CloseReason>? Disconnected;

    /// <summary>The client's counters, over all of its sessions.</summary>
    public SessionCounters Counters { get; } = new();

    /// <summary>The current session; null while there is none.</summary>
    public Session? Session => _slot.Current;

    /// <summary>
    /// Connects; afterwards the client reconnects after each loss. Makes one attempt, or with
    /// <see cref="ClientOptions.RetryConnect"/> retries until it is connected. If it throws, requests that waited for the
    /// connection fail with <see cref="RequestFailure.NotConnected"/>, as do new ones until it is called again.
    /// </summary>
    /// <param name="cancellationToken">Stops connecting.</param>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="RequestFailedException">The server refused the Hello.</exception>
    /// <exception cref="TimeoutException">The server did not answer within <see cref="ClientOptions.ConnectTimeout"/>.</exception>
    /// <exception cref="FastPortOptionsException">The Hello (routing id, token, name) exceeds the frame limit; never retried.</exception>
    /// <exception cref="OperationCanceledException">Canceled, or the client was closed in the meantime.</exception>
    /// <exception cref="ObjectDisposedException">The client was closed before.</exception>
    /// <exception cref="InvalidOperationException">
    /// The client is connecting, or was connected before. It reconnects automatically, or it has ended (without
    /// <see cref="ClientOptions.Reconnect"/>, or because a fixed token was refused); then the message says why.
    /// </exception>
    public async Task ConnectAsync(CancellationToken cancellationToken = default)
    {
        var connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_closed is not null, this);
            if (_running is not null)
            {
                throw new InvalidOperationException(
                    _slot.WhyEnded is { } why
                        ? $"{why} A client does not reconnect after it has ended; create a new one."
                        : "The client is connecting or was connected before; it reconnects by itself. Call ConnectAsync again only if it "
                            + "has failed.");
            }

            // From now on requests and CloseAsync wait for this attempt.
            _slot.Expect();
            // Reconnecting and events are independent of the first caller's context.
            _running = NoContext.Start(() => RunAsync(connected, cancellationToken));
        }

        await connected.Task.ConfigureAwait(false);
    }

    /// <summary>
    /// Closes in order: sends Goodbye, waits for replies in flight for <see cref="FastPortClientOptions.CloseTimeout"/>, then ends the
    /// connection, within a second more. Requests that wait for a connection and new requests fail. When the task completes, every
    /// <see cref="Disconnected"/> has been raised, unless a subscriber or handler of this client blocks for 5 s longer. Always completes;
    /// idempotent. Do not await it in an event or handler of this client.
    /// </summary>
    public Task CloseAsync()
    {
        lock (_gate)
        {
            if (_closed is null)
            {
                // Streams of topics end in order. From now on requests fail, and no session becomes current.
                _routing.End(why: null);
                _slot.End("The client was closed.");
                _closed = CloseCoreAsync();
            }

            return _closed;
        }
    }

    /// <summary>Closes the client.</summary>
    public async ValueTask DisposeAsync() => await CloseAsync().ConfigureAwait(false);

    private async Task CloseCoreAsync()
    {
        // The caller's thread holds the lock.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);

        // Not awaited: a TokenProvider's callback that throws or blocks must not keep the client from closing.
        _ = _closing.CancelAsync();
        Task? running;
        lock (_gate)
        {
            running = _running;
        }

        IReadOnlyList<(Session Session, Task Left)> open = _slot.Open();

        foreach ((Session session, _) in open)
        {
            session.Protocol.Leave(CloseReason.LocalClosed);
        }

        Task over = Task.WhenAll(open.Select(static o => o.Left));
        try
        {
            // The second is for the end of the connections: Goodbye and earlier messages are sent even if no reply is awaited.
            await over.WaitAsync(_options.CloseTimeout + TimeSpan.FromSeconds(1), _clock.Time).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            foreach ((Session session, _) in open)
            {
                session.Abort();
            }
        }

        // An aborted session ends, and the task that connects, as soon as no code of the user blocks them.
        await Task.WhenAll(over, running ?? Task.CompletedTask)
            .WaitAsync(BlockedTimeout, _clock.Time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (_ownsClock)
        {
            _clock.Dispose();
        }
    }
}
