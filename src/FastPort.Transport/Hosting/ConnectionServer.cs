using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using FastPort.Endpoints;
using FastPort.Hosting;
using FastPort.Limits;
using FastPort.Logging;
using FastPort.Proxies;
using FastPort.Telemetry;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Connections;

/// <summary>
/// A server of any protocol: listeners, limits, counters and an ordered stop around a protocol that is created for each connection. It
/// needs no host; <c>services.AddConnectionServer</c> runs it in one. Start it once, stop it once. Its members are safe from any thread.
/// <para>
/// The accepting thread only counts the connection, under none of the server's locks. Stages run on the thread pool. The protocol is
/// created and started on the connection's loop.
/// </para>
/// </summary>
public sealed partial class ConnectionServer : IAsyncDisposable
{
    private readonly ServerOptions _options;
    private readonly Func<Connection, IConnectionProtocol> _protocol;
    private readonly Func<ConnectionClock, ConnectionSettings> _settings;
    private readonly ConnectionStage[] _ownStages;
    private readonly HandshakeWorkers _handshakes;
    private readonly TrustedProxies _proxies;
    private readonly TransportCollection _transports;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Admission _admission;
    private readonly ConcurrentDictionary<long, AcceptedConnection> _accepted = new();
    private readonly CancellationTokenSource _stop = new();

    // Serializes the start and the beginning of the stop, and guards the three fields below.
    private readonly Lock _gate = new();
    private ITransportListener[] _listeners = [];
    private ConnectionClock? _clock;
    private Task? _stopped;
    private volatile bool _stopping;

    // No connection is admitted any more: _stopping, after the drain delay.
    private volatile bool _closing;
    private volatile bool _listens;

    /// <summary>Creates a server. No endpoint is bound before <see cref="StartAsync"/>.</summary>
    /// <param name="options">
    /// <see cref="ConnectionServerOptions"/>, or a protocol's own; validated here, must not change afterwards.
    /// </param>
    /// <param name="protocol">
    /// Creates the protocol of a connection. Called once per connection, on its loop. Like the protocol's callbacks, it must not block;
    /// slow work belongs in a stage. An exception is logged and closes the connection.
    /// </param>
    /// <param name="components">
    /// Transports, stages and the source of time. Defaults to the built-in transports as the options select them, and no stages.
    /// </param>
    /// <param name="loggerFactory">Creates the server's logger. Defaults to no logging.</param>
    /// <exception cref="FastPortOptionsException">Options are out of range, or no transport serves an endpoint's scheme.</exception>
    public ConnectionServer(
        ServerOptions options,
        Func<Connection, IConnectionProtocol> protocol,
        ConnectionServerComponents? components = null,
        ILoggerFactory? loggerFactory = null)
        : this(
            options,
            protocol,
            components ?? new ConnectionServerComponents(),
            new ThrottledLogger(
                (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger("FastPort.ConnectionServer"),
                components?.Time ?? TimeProvider.System),
            new ConnectionCounters(),
            options is null ? null! : options.CreateSettings)
    {
    }

    internal ConnectionServer(
        ServerOptions options,
        Func<Connection, IConnectionProtocol> protocol,
        ConnectionServerComponents components,
        ILogger logger,
        ConnectionCounters counters,
        Func<ConnectionClock, ILogger, ConnectionSettings> settings)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(protocol);
        if (options.Validate() is { Count: > 0 } problems)
        {
            throw new FastPortOptionsException(problems);
        }

        _options = options;
        _protocol = protocol;
        _logger = logger;
        Memory = options.MaxBufferedMegabytes is { } megabytes ? new MemoryBudget(megabytes * 1024L * 1024) : MemoryBudget.OfProcess;
        _settings = clock => settings(clock, logger) with
        {
            Memory = Memory,
            AcceptFailed = counters.AcceptFailed,
            UnixSocketPermissions = options.UnixFileMode,
        };
        _time = components.Time ?? TimeProvider.System;
        _proxies = new TrustedProxies(options.TrustedProxies);
        _handshakes = new HandshakeWorkers(options.Tls.HandshakesAtATime);
        _ownStages = [.. components.Stages.Select(OnThreadPool)];
        _transports = components.Transports.OrElse(() => TransportCollection.CreateDefault(options.Transport, options.ToEpollOptions()));
        string[] unserved = [.. options.Endpoints.Where(text => !IsServed(Endpoint.Parse(text)))];
        if (unserved.Length != 0)
        {
            string place = $"{options.Section}:Endpoints";
            throw new FastPortOptionsException(
                [.. unserved.Select(text => $"{place}: no transport serves '{text}'. Use {TransportSelection.Examples}.")]);
        }

        _certificates = ReadCertificates();
        Rates = options.Rates.IsEmpty ? null : new RateLimiter(options.Rates, counters, _time);
        Bans = components.Bans ?? new BanList(_time);
        BanCheck = new BanCheck(Bans, new AddressNetworks(options.Rates.Exempt));
        _admission = new Admission(
            options.ConnectionLimit, options.MaxConnectionsPerAddress, Rates, BanCheck, ConnectionDescriptors.OfProcess);
        _inStages = new Admission(
            options.MaxConnectionsInStages,
            options.MaxConnectionsPerAddress > 0 ? Math.Max(1, options.MaxConnectionsInStages / 4) : options.MaxConnectionsPerAddress);
        Counters = counters;
    }

    /// <summary>
    /// The server's counters: connections accepted, closed and rejected, and failed accepts. Messages and bytes are counted by the
    /// protocol.
    /// </summary>
    public ConnectionCounters Counters { get; }

    /// <summary>The banned addresses.</summary>
    public BanList Bans { get; }

    /// <summary>The endpoints the server listens on, with the bound ports; empty before the start, and if the start failed.</summary>
    public IReadOnlyList<Endpoint> Endpoints => _listens ? [.. Bound] : [];

    /// <summary>An additional limit of the server built on this one; null for none.</summary>
    internal ConnectionPlaces? Places { get; init; }

    /// <summary>The rates by address, by identity and in total; null if there are none.</summary>
    internal RateLimiter? Rates { get; }

    /// <summary>The bans as they apply to this server.</summary>
    internal BanCheck BanCheck { get; }

    /// <summary>Number of open connections, including those in stages.</summary>
    public int ConnectionCount => _admission.Count;

    /// <summary>Maximum number of connections: fewer than configured if the process does not have enough descriptors.</summary>
    internal int MaxConnections => _admission.MaxConnections;

    /// <summary>A snapshot of the connections that have their protocol.</summary>
    public IReadOnlyCollection<Connection> Connections => [.. _accepted.Values.Select(static a => a.Served).OfType<Connection>()];

    private IEnumerable<Endpoint> Bound => _listeners.Select(static l => l.Endpoint);

    /// <summary>Binds every endpoint and begins to accept. If one cannot be bound, none stays bound.</summary>
    /// <param name="cancellationToken">If it is canceled already, the server is not started.</param>
    /// <exception cref="EndpointException">
    /// An endpoint cannot be bound, or the system provides no threads; the message says which, why, and what to do.
    /// </exception>
    /// <exception cref="InvalidOperationException">The server was started or stopped before, or stopped during the start.</exception>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            if (_clock is not null || _stopping)
            {
                throw new InvalidOperationException("The server has been started or stopped already; create a new one to start again.");
            }

            try
            {
                _clock = new ConnectionClock(_time);
            }
            catch (OutOfMemoryException e)
            {
                throw NoThread(e);
            }

            // Before a stop can begin, which takes both back.
            Memory.Enter(this);
            Bans.Added += CloseBanned;
        }

        try
        {
            ConnectionDescriptors.OfProcess.Measure();
            ConnectionSettings settings = _settings(_clock);
            _certificates?.Watch();
            Listen(settings);

            // Again: the event loops, possibly many, have opened their descriptors.
            ConnectionDescriptors.OfProcess.Measure();
        }
        catch (Exception e)
        {
            await StopAsync(CancellationToken.None).ConfigureAwait(false);
            if (e is OutOfMemoryException)
            {
                throw NoThread(e);
            }

            throw;
        }

        _listens = true;
        WarnAboutDescriptors();
        foreach (Endpoint endpoint in Endpoints)
        {
            ServerLog.Listening(_logger, endpoint);
        }
    }

    /// <summary>Stops the server.</summary>
    public async ValueTask DisposeAsync() => await StopAsync(CancellationToken.None).ConfigureAwait(false);

    /// <summary>Runs the stages of a connection, then opens it on its loop. Never throws.</summary>
    internal async Task OpenAfterStagesAsync(AcceptedConnection accepted)
    {
        try
        {
            if (await RunStagesAsync(accepted).ConfigureAwait(false) is { } top)
            {
                top.Start(new ConnectionOpening(this, accepted));
            }
        }
        catch (Exception e)
        {
            OpenFailed(accepted, e);
        }
    }

    /// <summary>Creates the protocol of a connection and starts it. On the connection's loop; never throws.</summary>
    internal void Open(AcceptedConnection accepted, Connection top)
    {
        try
        {
            if (_closing)
            {
                Reject(accepted, ConnectionRejection.ShuttingDown);
                return;
            }

            if (Places?.TryEnter() is { } full)
            {
                Reject(accepted, full.Rejection, full.Reason);
            }
            else if (accepted.TryCount(Counters))
            {
                accepted.Serve(top, _protocol(top));

                // A ban added in the meantime may have missed the connection: not yet among the accepted, or not under this address.
                if (BanCheck.Find(accepted.Address) is { } ban)
                {
                    CloseBanned(accepted, ban);
                }
            }
            else
            {
                // The connection has ended in the meantime.
                Places?.Leave(null);
            }
        }
        catch (Exception e)
        {
            OpenFailed(accepted, e);
        }
    }

    /// <summary>Frees the place of an admitted connection that has ended.</summary>
    internal void Leave(EndPoint? address, bool wasCounted, Connection? served)
    {
        _admission.Leave(address);
        if (wasCounted)
        {
            Places?.Leave(served);
            Counters.Closed();
        }
    }

    /// <summary>Removes an admitted connection that has ended, after its protocol was notified.</summary>
    internal void Forget(AcceptedConnection accepted) => _accepted.TryRemove(accepted.Connection.Id, out _);

    // The system starts no thread for the clock or for an event loop.
    private EndpointException NoThread(Exception e)
    {
        var first = Endpoint.Parse(_options.ListenAt[0]);
        return new EndpointException(first, $"Cannot listen on {first}: {Shortage.Threads}", e);
    }

    // A stop on another thread waits for the lock and finds every listener. A stop from inside, for example from a transport's callback, is
    // seen before the next listener.
    private void Listen(ConnectionSettings settings)
    {
        lock (_gate)
        {
            foreach (string text in _options.ListenAt)
            {
                if (_stopping)
                {
                    throw new InvalidOperationException("The server was stopped while it started.");
                }

                var endpoint = Endpoint.Parse(text);
                var layers = EndpointLayers.Of(endpoint, _transports);
                ConnectionStage[] stages = StagesOf(layers, settings);
                ITransportListener listener = layers.Listen(_transports, settings);
                Endpoint? own = Bound.FirstOrDefault(one => one.Port > 0 && one.Port == endpoint.Port);
                _listeners = [.. _listeners, listener];
                try
                {
                    listener.Start(connection => OnAccepted(connection, stages));
                }
                catch (EndpointException e) when (
                    own is not null && e.InnerException is SocketException { SocketErrorCode: SocketError.AddressAlreadyInUse })
                {
                    throw new EndpointException(
                        endpoint,
                        $"Cannot listen on {endpoint}: this server's endpoint {own} already has the port. An address is bound once; "
                            + "0.0.0.0 means every IPv4 address, [::] and * mean every IPv4 and IPv6 address. Remove one of the two, or "
                            + "give it another port.",
                        e);
                }
            }
        }
    }

    // First a proxy's header: the stages after it see the client's address.
    private ConnectionStage[] StagesOf(EndpointLayers layers, ConnectionSettings settings) =>
    [
        .. _proxies.IsEmpty ? [] : (ConnectionStage[])[ReadProxyHeaderAsync],
        .. layers.Stages(_options.Tls, _certificates, _options.WebSockets, settings, _handshakes),
        .. _ownStages,
    ];

    private bool IsServed(Endpoint endpoint)
    {
        var layers = EndpointLayers.Of(endpoint, _transports);
        return _transports.Supports(layers.Below.Scheme) && (!layers.IsWebSocket || _options.WebSockets is not null);
    }

    private void OpenFailed(AcceptedConnection accepted, Exception e)
    {
        ServerLog.OpenFailed(_logger, accepted.Source, e);
        accepted.Connection.Close(new CloseReason(
            CloseKind.Internal, "The connection's protocol could not be created or started; see the log.", Exception: e));
    }

    // On an accepting thread, possibly under the listener's lock: no application code runs here, loggers included.
    private void OnAccepted(Connection connection, ConnectionStage[] stages)
    {
        // A proxy's connections count for its clients, when their addresses are known.
        EndPoint? address = _proxies.Contain(connection.RemoteEndPoint) ? null : connection.RemoteEndPoint;
        string? why = null;
        ConnectionRejection? rejection = _closing ? ConnectionRejection.ShuttingDown : _admission.TryEnter(address, out why);
        if (rejection is not null)
        {
            // Abort frees the descriptor at once.
            connection.Abort(Rejected(rejection.Value, out string reason, why));
            LogRejected(connection.RemoteEndPoint, reason);
            return;
        }

        var accepted = new AcceptedConnection(this, connection, address, stages);
        connection.Owner = accepted;
        _accepted[connection.Id] = accepted;
        if (stages.Length == 0)
        {
            connection.Start(new ConnectionOpening(this, accepted));
        }
        else
        {
            _handshakes.Add(accepted);
        }
    }

    private void WarnAboutDescriptors()
    {
        if (_options.MaxConnections is { } wanted && _admission.MaxConnections is var possible && possible < wanted
            && DescriptorLimit.Read() is { } limit)
        {
            ServerLog.DescriptorLimit(_logger, _options.Section, wanted, limit, possible);
        }
    }
}
