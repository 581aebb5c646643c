using System.Diagnostics.CodeAnalysis;
using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Logging;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort;

/// <summary>
/// A server: listeners, sessions and handlers. It needs no host; <c>services.AddFastPort</c> runs it in one. Start it once, stop it once.
/// Its members are safe from any thread. Events are raised on sessions' loops, and subscribers must not block.
/// </summary>
public sealed partial class FastPortServer : ISessionHost, IAsyncDisposable
{
    private readonly FastPortServerOptions _options;
    private readonly FastPortServerComponents _components;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly ConnectionServer _connections;
    private readonly IdentityRegistry _identities = new();
    private readonly MessageHandlers? _frameworkHandlers;

    // Created at the start, before the first connection.
    private SessionSettings? _settings;

    /// <summary>Creates a server. No endpoint is bound before <see cref="StartAsync"/>.</summary>
    /// <param name="options">Options; validated here, must not change afterwards.</param>
    /// <param name="handlers">Handlers by message type; frozen at the start. Defaults to none: add them to <see cref="Handlers"/>.</param>
    /// <param name="components">
    /// Authentication, authorization, telemetry and transports. Defaults to none, with the built-in transports as the options select them.
    /// </param>
    /// <param name="loggerFactory">Creates the server's logger. Defaults to no logging.</param>
    /// <exception cref="FastPortOptionsException">Options are out of range, or no transport serves an endpoint's scheme.</exception>
    public FastPortServer(
        FastPortServerOptions options,
        MessageHandlers? handlers = null,
        FastPortServerComponents? components = null,
        ILoggerFactory? loggerFactory = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _components = components ?? new FastPortServerComponents();
        _time = _components.Time ?? TimeProvider.System;
        _logger = new ThrottledLogger((loggerFactory ?? NullLoggerFactory.Instance).CreateLogger("FastPort.Server"), _time);
        _connections = new ConnectionServer(
            options, connection => new FrameProtocol(_settings!, connection), _components, _logger, Counters.Connections, Prepare)
        {
            Places = new ConnectionPlaces(TryEnter, Leave),
            CloseServed = CloseBanned,
        };
        Handlers = handlers ?? new MessageHandlers();
        Routing = new ServerRouting(
            options.Routing, _identities, _components.Router, Counters, _components.TopicInterests, _components.Peers);
        _frameworkHandlers = Routing.CreateHandlers();
    }

    /// <summary>A session has been opened; raised once per session, before its first message.</summary>
    public event Action<Session>? SessionOpened;

    /// <summary>A session has ended; raised exactly once per <see cref="SessionOpened"/>, with the reason.</summary>
    public event Action<Session, CloseReason>? SessionClosed;

    /// <inheritdoc cref="ConnectionServer.CertificateChanged"/>
    public event Action<CertificateInfo>? CertificateChanged
    {
        add => _connections.CertificateChanged += value;
        remove => _connections.CertificateChanged -= value;
    }

    /// <inheritdoc cref="ConnectionServer.Certificates"/>
    public IReadOnlyList<CertificateInfo> Certificates => _connections.Certificates;

    /// <summary>The banned addresses and identities.</summary>
    public BanList Bans => _connections.Bans;

    /// <summary>The handlers by message type. Handlers can be added until the start.</summary>
    public MessageHandlers Handlers { get; }

    /// <summary>The server's counters.</summary>
    public SessionCounters Counters { get; } = new();

    /// <inheritdoc cref="ConnectionServer.Endpoints"/>
    public IReadOnlyList<Endpoint> Endpoints => _connections.Endpoints;

    /// <summary>A snapshot of the open sessions.</summary>
    public IReadOnlyCollection<Session> Sessions =>
        [.. _connections.Connections.Select(static c => (c.Protocol as FrameProtocol)?.Session).OfType<Session>()];

    /// <summary>Number of open connections.</summary>
    public int ConnectionCount => _connections.ConnectionCount;

    /// <inheritdoc cref="ConnectionServer.IsStopping"/>
    public bool IsStopping => _connections.IsStopping;

    /// <summary>The current load. Reading it visits all connections; for code that reads it about once a second.</summary>
    public ServerLoad ReadLoad() => _connections.ReadLoad();

    /// <summary>Binds every endpoint and begins to accept. If one cannot be bound, none stays bound.</summary>
    /// <param name="cancellationToken">If it is canceled already, the server is not started.</param>
    /// <exception cref="EndpointException">An endpoint cannot be bound; the message says which, why, and what to do.</exception>
    /// <exception cref="InvalidOperationException">The server was started or stopped before, or stopped during the start.</exception>
    /// <exception cref="FastPortOptionsException">
    /// <see cref="FastPortServerOptions.RequireSecureDefaults"/> is set, and an endpoint is not secure.
    /// </exception>
    public Task StartAsync(CancellationToken cancellationToken = default)
    {
        IReadOnlyList<string> exposed = Exposure.Find(
            _options.Endpoints,
            _components.Transports,
            _components is { Authenticator: not null, AllowsAnonymous: false },
            _options.Tls.ClientCertificates == ClientCertificateMode.Required && _options.Tls.ClientAuthorityFile.Length != 0);
        if (exposed.Count != 0 && _options.RequireSecureDefaults)
        {
            throw new FastPortOptionsException(
                [.. exposed.Select(what => $"{what} {_options.Section}:RequireSecureDefaults forbids it.")]);
        }

        foreach (string what in exposed)
        {
            ServerLog.Exposed(_logger, what, _options.Section);
        }

        return _connections.StartAsync(cancellationToken);
    }

    /// <summary>
    /// Stops the server: waits <see cref="ServerOptions.DrainDelay"/>, accepts no more connections, says Goodbye to every session, answers
    /// the requests in flight for up to <see cref="ServerOptions.ShutdownTimeout"/>, then aborts the sessions that are left. Always
    /// completes; idempotent.
    /// </summary>
    /// <param name="cancellationToken">
    /// Ends the waits and aborts the remaining sessions at once, also if an earlier call has begun the stop.
    /// </param>
    public Task StopAsync(CancellationToken cancellationToken = default) => _connections.StopAsync(cancellationToken);

    /// <summary>Stops the server.</summary>
    public ValueTask DisposeAsync() => _connections.DisposeAsync();

    void ISessionHost.OnOpened(Session session) =>
        Raise(SessionOpened, session, nameof(SessionOpened));

    void ISessionHost.OnClosed(Session session, CloseReason reason) =>
        Raise(SessionClosed, session, reason, nameof(SessionClosed));

    void ISessionHost.OnGoodbye(Session session, CloseReason reason)
    {
    }

    private void Raise(Action<Session>? subscribers, Session session, string name) => LogFailures(
        Subscribers.Call(subscribers, session, static (subscriber, s) => subscriber(s)), session, name);

    private void Raise<T>(Action<Session, T>? subscribers, Session session, T argument, string name) => LogFailures(
        Subscribers.Call(subscribers, (session, argument), static (subscriber, both) => subscriber(both.session, both.argument)),
        session,
        name);

    private void LogFailures(IReadOnlyList<Exception> failures, Session session, string name)
    {
        foreach (Exception failure in failures)
        {
            FastPortServerLog.SubscriberFailed(_logger, session, name, failure);
        }
    }

    // At the start: creates everything that needs the clock.
    private ConnectionSettings Prepare(ConnectionClock clock, ILogger logger)
    {
        Handlers.Freeze();
        _settings = CreateSessionSettings(clock);
        return _options.Session.ToConnectionSettings(clock, logger);
    }

    private SessionSettings CreateSessionSettings(ConnectionClock clock) => new()
    {
        Options = _options.Session,
        CreateDispatcher = new DispatchSettings
        {
            Handlers = Measured(Handlers),
            FrameworkHandlers = Measured(_frameworkHandlers),
            Authorizer = _components.Authorizer,
        }.Create,
        Clock = clock,
        Logger = _logger,
        Host = this,
        Telemetry = new SessionTelemetry(Counters),
        ShutdownGrace = _options.ShutdownGrace,
        Memory = _connections.Memory,
        Rates = _connections.Rates,
        SessionStats = _options.MeasureSessions ? _components.LatencyStats : null,
        Handshake = new HandshakeSettings
        {
            ServerName = _options.ServerName,
            RoutingIds = _identities,
            Authenticator = _components.Authenticator,
            Claims = _components.RoutingIdClaims,
            Bans = _connections.BanCheck,
            RequireRoutingId = _options.RequireRoutingId,
            Duplicates = _options.DuplicateIdentity,
        },
    };

    [return: NotNullIfNotNull(nameof(handlers))]
    private MessageHandlers? Measured(MessageHandlers? handlers) =>
        _components.LatencyStats is { } stats ? handlers?.MeasuredBy(stats) : handlers;
}
