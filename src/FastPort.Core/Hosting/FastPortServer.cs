using System.Collections.Concurrent;
using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Telemetry;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Hosting;

/// <summary>
/// A server: listeners, sessions and handlers. Needs no host; <c>services.AddFastPort</c> runs it in one. Start it once, stop it once.
/// Its members are safe from any thread; events are raised on sessions' loops and must not block.
/// </summary>
public sealed partial class FastPortServer : ISessionHost, IAsyncDisposable
{
    // What a stop may take besides ShutdownTimeout: sessions whose handlers block their loop have 5 s of it.
    private static readonly TimeSpan StopMargin = TimeSpan.FromSeconds(10);

    private readonly FastPortServerOptions _options;
    private readonly FastPortServerHooks _hooks;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly TransportCollection _transports;
    private readonly ConcurrentDictionary<long, Session> _sessions = new();
    private readonly IdentityRegistry _identities = new();
    private readonly Admission _admission;
    private readonly MessageHandlers? _frameworkHandlers;
    private readonly List<ITransportListener> _listeners = [];
    private SessionSettings? _settings;
    private ConnectionClock? _clock;
    private Task? _stopped;
    private long _rejected;
    private long _rejectLogged = long.MinValue;
    private volatile bool _stopping;

    /// <summary>Creates a server; nothing is bound before <see cref="StartAsync"/>.</summary>
    /// <param name="options">Options; checked here, not to be changed afterwards.</param>
    /// <param name="handlers">Handlers by message type; frozen here.</param>
    /// <param name="hooks">Authentication, authorisation, telemetry and transports. Defaults to none of them and the library's own as the options name them.</param>
    /// <param name="loggerFactory">Where to log. Defaults to nowhere.</param>
    /// <exception cref="FastPortOptionsException">Options are out of range, or no transport serves an endpoint's scheme.</exception>
    public FastPortServer(
        FastPortServerOptions options, MessageHandlers handlers, FastPortServerHooks? hooks = null, ILoggerFactory? loggerFactory = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(handlers);
        if (options.Validate() is { Count: > 0 } problems)
        {
            throw new FastPortOptionsException(problems);
        }

        _options = options;
        _hooks = hooks ?? new FastPortServerHooks();
        _time = _hooks.Time ?? TimeProvider.System;
        _logger = new ThrottledLogger((loggerFactory ?? NullLoggerFactory.Instance).CreateLogger("FastPort.Server"), _time);
        _transports = _hooks.Transports.OrElse(() => TransportCollection.CreateDefault(options.Transport, options.ToEpollOptions()));
        string[] unserved = [.. options.Endpoints.Where(text => !_transports.Supports(Endpoint.Parse(text).Scheme))];
        if (unserved.Length != 0)
        {
            throw new FastPortOptionsException(
                [.. unserved.Select(static text => $"FastPort:Endpoints: no transport serves '{text}'. Use {TransportSelection.Examples}.")]);
        }

        _admission = new Admission(options.MaxConnections, options.MaxConnectionsPerAddress);
        _memory = CreateMemoryBudget();
        Handlers = handlers;
        handlers.Freeze();
        Routing = new ServerRouting(options.Routing, _identities, _hooks.Router, Counters);
        _frameworkHandlers = Routing.CreateHandlers();
    }

    /// <summary>A session has been opened; raised once per session, before its first message.</summary>
    public event Action<Session>? SessionOpened;

    /// <summary>A session is over; raised exactly once per <see cref="SessionOpened"/>, with the reason.</summary>
    public event Action<Session, CloseReason>? SessionClosed;

    /// <summary>The handlers.</summary>
    public MessageHandlers Handlers { get; }

    /// <summary>What the server counts.</summary>
    public ServerCounters Counters { get; } = new();

    /// <summary>Where the server listens, with the ports really bound; empty before the start.</summary>
    public IReadOnlyList<Endpoint> Endpoints
    {
        get
        {
            lock (_listeners)
            {
                return [.. _listeners.Select(static l => l.Endpoint)];
            }
        }
    }

    /// <summary>The open sessions, as of now.</summary>
    public ICollection<Session> Sessions => _sessions.Values;

    /// <summary>Connections that are open.</summary>
    public int ConnectionCount => _admission.Count;

    /// <summary>The session with this routing id; null where there is none.</summary>
    /// <param name="routingId">The id.</param>
    public Session? FindSession(string routingId) => Routing.Find(routingId);

    /// <summary>Binds every endpoint and begins to accept. Where one cannot be bound, none stays bound.</summary>
    /// <param name="cancellationToken">Not started if cancelled already.</param>
    /// <exception cref="EndpointException">An endpoint cannot be bound; the message says which, why, and what to do.</exception>
    /// <exception cref="InvalidOperationException">Started or stopped already, or stopped while it started.</exception>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_listeners)
        {
            if (_settings is not null || _stopping)
            {
                throw new InvalidOperationException("The server has been started or stopped already; make a new one to start again.");
            }

            _clock = new ConnectionClock(_time);
            _settings = CreateSessionSettings(_clock);
        }

        AttachSeries();
        try
        {
            Listen(CreateConnectionSettings(_clock));
        }
        catch
        {
            await StopAsync(CancellationToken.None).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>
    /// Stops: no new connections, Goodbye to every session, requests in flight are answered until the deadline
    /// (<see cref="FastPortServerOptions.ShutdownTimeout"/>), then what is left is aborted. Always ends; idempotent.
    /// </summary>
    /// <param name="cancellationToken">Aborts what is left at once.</param>
    public Task StopAsync(CancellationToken cancellationToken = default)
    {
        lock (_listeners)
        {
            _stopping = true;
            return _stopped ??= StopInTimeAsync(cancellationToken);
        }
    }

    /// <summary>Stops the server.</summary>
    public async ValueTask DisposeAsync() => await StopAsync(CancellationToken.None).ConfigureAwait(false);

    void ISessionHost.OnOpened(Session session)
    {
        Raise(session, nameof(SessionOpened), static (server, s, _) => server.SessionOpened?.Invoke(s), null);
        if (_stopping)
        {
            // Accepted while the stop went over the sessions.
            StopSession(session);
        }
    }

    // Their end is the server's: whoever stops it aborts what is left then.
    private void StopSession(Session session) => session.Protocol.Stop(CloseReason.Stopping, _options.ShutdownGrace, TimeSpan.FromDays(1));

    void ISessionHost.OnClosed(Session session, CloseReason reason)
    {
        Leave(session);
        Counters.ConnectionClosed();
        Raise(session, nameof(SessionClosed), static (server, s, r) => server.SessionClosed?.Invoke(s, r!), reason);

        // Last: a stop that finds no session left must not return before the last one's event.
        _sessions.TryRemove(session.Id, out _);
    }

    void ISessionHost.OnGoodbye(Session session, CloseReason reason)
    {
    }

    private void Raise(Session session, string name, Action<FastPortServer, Session, CloseReason?> raise, CloseReason? reason)
    {
        try
        {
            raise(this, session, reason);
        }
        catch (Exception e)
        {
            ServerLog.SubscriberFailed(_logger, session, name, e);
        }
    }

    // A stop on another thread waits for the lock and finds every listener. One that comes from inside, as from a transport's callback, is
    // seen before the next.
    private void Listen(ConnectionSettings connections)
    {
        lock (_listeners)
        {
            KeepDescriptors();
            foreach (string text in _options.Endpoints.Count == 0 ? ["tcp://127.0.0.1:6628"] : _options.Endpoints)
            {
                if (_stopping)
                {
                    throw new InvalidOperationException("The server was stopped while it started.");
                }

                ITransportListener listener = _transports.CreateListener(Endpoint.Parse(text), connections);
                _listeners.Add(listener);
                listener.Start(OnAccepted);
                ServerLog.Listening(_logger, listener.Endpoint);
            }

            // Again: the event loops, of which there may be many, have taken theirs.
            KeepDescriptors();
        }

        WarnAboutDescriptors();
    }

    private void OnAccepted(Connection connection)
    {
        ConnectionRejection? rejection = _stopping ? ConnectionRejection.ShuttingDown : TryEnter(connection.RemoteEndPoint);
        if (rejection is not null)
        {
            Reject(connection, rejection.Value);
            return;
        }

        Counters.ConnectionAccepted();
        var protocol = new FrameProtocol(_settings!, connection);

        // Before it is opened on its loop: a stop waits for all that were accepted.
        _sessions[protocol.Session.Id] = protocol.Session;
        connection.Start(protocol);
    }

    // Peers must not be able to take the last descriptor: the runtime ends a process that cannot start a thread.
    private void KeepDescriptors()
    {
        if (DescriptorLimit.Read() is not { } limit)
        {
            return;
        }

        long connections = (long)DescriptorLimit.ConnectionsWithin(limit) + _admission.Count;
        _admission.MaxConnections = (int)Math.Min(_options.MaxConnections, connections);
    }

    private void WarnAboutDescriptors()
    {
        if (DescriptorLimit.Read() is { } limit && limit < _options.MaxConnections)
        {
            ServerLog.DescriptorLimit(_logger, _options.MaxConnections, limit, _admission.MaxConnections);
        }
    }

    private void Reject(Connection connection, ConnectionRejection rejection)
    {
        Counters.ConnectionRejected(rejection);
        long rejected = Interlocked.Increment(ref _rejected);
        string reason = rejection switch
        {
            ConnectionRejection.ConnectionLimit when _admission.MaxConnections < _options.MaxConnections =>
                $"this process has descriptors for {_admission.MaxConnections} connections",
            ConnectionRejection.ConnectionLimit => $"FastPort:MaxConnections is {_options.MaxConnections}",
            ConnectionRejection.AddressLimit => $"FastPort:MaxConnectionsPerAddress is {_admission.MaxPerAddress}",
            ConnectionRejection.UnidentifiedLimit => $"FastPort:MaxUnidentifiedConnections is {MaxUnidentified}",
            _ => "the server is stopping",
        };

        // A flood of connections must not become a flood of lines: one a second, with the count.
        long now = _clock!.PreciseMilliseconds;
        long last = Volatile.Read(ref _rejectLogged);
        if ((last == long.MinValue || now - last >= 1000) && Interlocked.CompareExchange(ref _rejectLogged, now, last) == last)
        {
            ServerLog.Rejected(_logger, connection.RemoteEndPoint, reason, rejected);
        }

        connection.Abort(new CloseReason(CloseKind.LocalClosed, reason));
    }

    // Off the caller's thread, and bounded from outside: a logger or a subscriber that blocks must not keep the process from its end.
    private async Task StopInTimeAsync(CancellationToken cancellationToken)
    {
        try
        {
            await Task.Run(() => StopCoreAsync(cancellationToken), CancellationToken.None)
                .WaitAsync(_options.ShutdownTimeout + StopMargin, _time, CancellationToken.None)
                .ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // Whoever blocks it may block the log, too.
        }
    }

    private async Task StopCoreAsync(CancellationToken cancellationToken)
    {
        ITransportListener[] listeners;
        lock (_listeners)
        {
            listeners = [.. _listeners];
        }

        foreach (ITransportListener listener in listeners)
        {
            await listener.StopAsync().ConfigureAwait(false);
        }

        Session[] sessions = [.. _sessions.Values];
        if (sessions.Length != 0)
        {
            ServerLog.Stopping(_logger, sessions.Length, _options.ShutdownTimeout);
        }

        foreach (Session session in sessions)
        {
            StopSession(session);
        }

        if (!await AllClosedAsync(_options.ShutdownTimeout, cancellationToken).ConfigureAwait(false))
        {
            ServerLog.StopAborts(_logger, _sessions.Count, _options.ShutdownTimeout);
            foreach (Session session in _sessions.Values)
            {
                session.Connection.Abort(CloseReason.Stopping);
            }

            // An aborted connection ends by itself as soon as its pump has run; the bound is for a handler that blocks its loop.
            await AllClosedAsync(TimeSpan.FromSeconds(5), CancellationToken.None).ConfigureAwait(false);
        }

        _clock?.Dispose();
        ServerLog.Stopped(_logger);
    }

    private async Task<bool> AllClosedAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        try
        {
            while (_sessions.Values is { Count: > 0 } open)
            {
                await Task.WhenAll(open.Select(static s => s.Closed)).WaitAsync(timeout, _time, cancellationToken).ConfigureAwait(false);
            }

            return true;
        }
        catch (Exception e) when (e is TimeoutException or OperationCanceledException)
        {
            return _sessions.IsEmpty;
        }
    }

    private SessionSettings CreateSessionSettings(ConnectionClock clock) => new()
    {
        Options = _options.Session,
        Handlers = Handlers,
        FrameworkHandlers = _frameworkHandlers,
        Clock = clock,
        Logger = _logger,
        Host = this,
        Telemetry = new SessionTelemetry(Counters),
        Authoriser = _hooks.Authoriser,
        Memory = _memory,
        SessionStats = _options.MeasureSessions ? _hooks.LatencyStats : null,
        Handshake = new HandshakeSettings
        {
            ServerName = _options.ServerName,
            Identities = _identities,
            Authenticator = _hooks.Authenticator,
            RequireRoutingId = _options.RequireRoutingId,
            Duplicates = _options.DuplicateIdentity,
        },
    };

    private ConnectionSettings CreateConnectionSettings(ConnectionClock clock) =>
        _options.Session.ToConnectionSettings(clock, _logger) with
        {
            AcceptFailed = Counters.AcceptFailed,
            ReceivePool = new BudgetedPool(_options.Session.Pool, _memory),
            UnixSocketPermissions = _options.UnixFileMode,
        };

    private void AttachSeries()
    {
        if (_hooks.LatencyStats is { } stats)
        {
            foreach (HandlerEntry entry in Handlers.Entries.Concat(_frameworkHandlers?.Entries ?? []))
            {
                entry.Series = stats.ForType(entry.Type);
            }
        }
    }
}
