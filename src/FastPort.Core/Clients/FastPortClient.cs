using FastPort.Configuration;
using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Sessions;
using FastPort.Sessions.Logging;
using FastPort.Telemetry.Counters;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Clients;

/// <summary>
/// A client that stays connected: many requests in flight on one session, pushes to handlers, heartbeats, and a new session after a loss.
/// A request in flight when the connection is lost fails and is never sent again; a request made while there is no connection waits within
/// its own timeout. Safe from any thread.
/// <para>
/// One task (<see cref="RunAsync"/>) owns connecting; <see cref="_slot"/> has the session that requests may use. <see cref="_gate"/> guards
/// the two tasks, <see cref="_running"/> and <see cref="_closed"/>; the slot's lock may be taken under it, never the other way round.
/// </para>
/// </summary>
public sealed partial class FastPortClient : ISessionHost, IAsyncDisposable
{
    private readonly FastPortClientOptions _options;
    private readonly ILogger _logger;
    private readonly ConnectionClock _clock;
    private readonly bool _ownsClock;
    private readonly SessionOpener _opener;
    private readonly ReconnectBackoff _delays;
    private readonly SessionSlot _slot = new();
    private readonly CancellationTokenSource _closing = new();
    private readonly Lock _gate = new();
    private Task? _running;
    private Task? _closed;

    /// <summary>Creates a client; it connects with <see cref="ConnectAsync"/>.</summary>
    /// <param name="options">Options; checked here, not to be changed afterwards.</param>
    /// <param name="handlers">Handlers for what the server sends unasked. Defaults to none.</param>
    /// <param name="loggerFactory">Where to log. Defaults to nowhere.</param>
    /// <param name="clock">A clock shared by many clients of a process; not disposed here. Defaults to one of its own.</param>
    /// <param name="transport">The transport, perhaps a <see cref="TransportCollection"/>. Defaults to the library's own, as the options
    /// name it.</param>
    /// <exception cref="ArgumentException">Options are out of range; the message lists all.</exception>
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
        transport ??= new TransportCollection();
        if (transport is TransportCollection several)
        {
            transport = several.OrElse(() => TransportCollection.CreateShared(options.Transport, options.ToEpollOptions()));
        }

        if (!transport.Supports(endpoint.Scheme))
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
        };
        _opener = new SessionOpener(
            options, settings, transport.CreateConnector(endpoint, options.Session.ToConnectionSettings(_clock, _logger)));
        _delays = new ReconnectBackoff(options.ReconnectDelay, options.MaxReconnectDelay, new Random());
    }

    /// <summary>A session is ready for requests; raised once per session. Must not block.</summary>
    public event Action<Session>? Connected;

    /// <summary>A session that was ready has ended, with the reason; raised once per <see cref="Connected"/>. Must not block.</summary>
    public event Action<Session, CloseReason>? Disconnected;

    /// <summary>What the client counts, over all its sessions.</summary>
    public ServerCounters Counters { get; } = new();

    /// <summary>The session requests go to; null while there is none.</summary>
    public Session? Session => _slot.Current;

    /// <summary>
    /// Connects and begins to stay connected. Makes one attempt, or with <see cref="FastPortClientOptions.RetryConnect"/> as many as it
    /// takes. Where it throws, requests that waited for the connection fail as <see cref="RequestFailure.NotConnected"/>, as do new ones
    /// until it is called again.
    /// </summary>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="RequestFailedException">The server refused the Hello.</exception>
    /// <exception cref="TimeoutException">The server did not answer within <see cref="FastPortClientOptions.ConnectTimeout"/>.</exception>
    /// <exception cref="FastPortOptionsException">
    /// The Hello (routing id, token, name) exceeds the frame limit; never tried again.
    /// </exception>
    /// <exception cref="OperationCanceledException">Cancelled, or the client was closed meanwhile.</exception>
    /// <exception cref="ObjectDisposedException">The client was closed before.</exception>
    /// <exception cref="InvalidOperationException">It is connecting, or has been connected: it reconnects by itself.</exception>
    public async Task ConnectAsync(CancellationToken cancellationToken = default)
    {
        var connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_closed is not null, this);
            if (_running is not null)
            {
                throw new InvalidOperationException(
                    "The client is connecting or was connected already; it reconnects by itself. Call ConnectAsync again only where it "
                    + "has failed.");
            }

            // From here on requests wait for this attempt, and so does a close.
            _slot.Expect();
            _running = RunAsync(connected, cancellationToken);
        }

        await connected.Task.ConfigureAwait(false);
    }

    /// <summary>
    /// Closes in order: Goodbye, replies in flight until <see cref="FastPortClientOptions.CloseTimeout"/>, then the connection ends.
    /// Requests that still wait for a connection fail, and so do new ones. When it is over, every <see cref="Disconnected"/> has been
    /// raised. Always ends; idempotent. Not to be awaited in an event or handler of this client.
    /// </summary>
    public Task CloseAsync()
    {
        lock (_gate)
        {
            if (_closed is null)
            {
                // Requests made from here on fail, and no session becomes current any more.
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
        // Not on the caller's thread, which holds the lock.
        await Task.Yield();
        await _closing.CancelAsync().ConfigureAwait(false);
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
            await over.WaitAsync(_options.CloseTimeout + TimeSpan.FromSeconds(1), _clock.Time).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            foreach ((Session session, _) in open)
            {
                session.Abort();
            }

            await over.ConfigureAwait(false);
        }

        if (running is not null)
        {
            await running.ConfigureAwait(false);
        }

        if (_ownsClock)
        {
            _clock.Dispose();
        }

        _closing.Dispose();
    }
}
