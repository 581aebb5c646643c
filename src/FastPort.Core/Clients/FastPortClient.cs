using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Telemetry;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Clients;

/// <summary>
/// A client that stays connected: many requests in flight on one session, pushes to handlers, heartbeats, and a new session after a loss.
/// A request in flight when the connection is lost fails and is never sent again; a request made while there is no connection waits within
/// its own timeout. Safe from any thread.
/// <para>
/// One task (<see cref="RunAsync"/>) owns connecting. <see cref="_gate"/> guards what requests look at: <see cref="_current"/>,
/// the session they may use, <see cref="_ready"/>, completed when there is one, and <see cref="_ended"/>, why there will be none; further
/// <see cref="_open"/> and the two tasks. A session becomes current only while <see cref="_ended"/> is null, both under the lock: a close
/// either finds it there or keeps it from getting there.
/// </para>
/// </summary>
public sealed class FastPortClient : ISessionHost, IAsyncDisposable
{
    private readonly FastPortClientOptions _options;
    private readonly ILogger _logger;
    private readonly ConnectionClock _clock;
    private readonly bool _ownsClock;
    private readonly SessionSettings _settings;
    private readonly ITransportConnector _connector;
    private readonly ReconnectDelays _delays;
    private readonly CancellationTokenSource _closing = new();
    private readonly Lock _gate = new();

    // The sessions that were current and whose Disconnected is still to come, those that the server is leaving included.
    private readonly Dictionary<Session, TaskCompletionSource> _open = [];
    private TaskCompletionSource<Session> _ready = NewReady();
    private TaskCompletionSource _retired = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Session? _current;
    private string? _ended;
    private Task? _running;
    private Task? _closed;


    /// <summary>Creates a client; it connects with <see cref="ConnectAsync"/>.</summary>
    /// <param name="options">Options; checked here, not to be changed afterwards.</param>
    /// <param name="handlers">Handlers for what the server sends unasked. Defaults to none.</param>
    /// <param name="loggerFactory">Where to log. Defaults to nowhere.</param>
    /// <param name="clock">A clock shared by many clients of a process; not disposed here. Defaults to one of its own.</param>
    /// <param name="transport">The transport. Defaults to the one that the options name.</param>
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
            throw new Hosting.FastPortOptionsException(problems);
        }

        _options = options;
        _logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger("FastPort.Client");
        var endpoint = Endpoint.Parse(options.Endpoint);
        transport ??= TransportSelection.Shared(options.Transport);
        if (!transport.Supports(endpoint.Scheme))
        {
            throw new ArgumentException($"No transport serves '{endpoint.Scheme}' of {endpoint}; use tcp://host:port.", nameof(options));
        }

        _ownsClock = clock is null;
        _clock = clock ?? new ConnectionClock();
        handlers ??= new MessageHandlers();
        handlers.Freeze();
        _settings = new SessionSettings
        {
            Options = options.Session,
            Handlers = handlers,
            Clock = _clock,
            Logger = _logger,
            Host = this,
            Telemetry = new SessionTelemetry(Counters),
        };
        _connector = transport.CreateConnector(endpoint, options.Session.ToConnectionSettings(_clock, _logger));
        _delays = new ReconnectDelays(options.ReconnectDelay, options.MaxReconnectDelay, new Random());
    }

    /// <summary>A session is ready for requests; raised once per session. Must not block.</summary>
    public event Action<Session>? Connected;

    /// <summary>A session that was ready has ended, with the reason; raised once per <see cref="Connected"/>. Must not block.</summary>
    public event Action<Session, CloseReason>? Disconnected;

    /// <summary>What the client counts, over all its sessions.</summary>
    public ServerCounters Counters { get; } = new();

    /// <summary>The session requests go to; null while there is none.</summary>
    public Session? Session => Volatile.Read(ref _current);

    /// <summary>Connects and begins to stay connected.</summary>
    /// <param name="cancellationToken">Gives up; the client can then only be closed.</param>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="RequestFailedException">The server refused the Hello.</exception>
    /// <exception cref="TimeoutException">The server did not answer within <see cref="FastPortClientOptions.ConnectTimeout"/>.</exception>
    /// <exception cref="Hosting.FastPortOptionsException">The Hello (routing id, token, name) exceeds the frame limit.</exception>
    /// <exception cref="OperationCanceledException">Cancelled, or the client was closed meanwhile.</exception>
    /// <exception cref="ObjectDisposedException">The client was closed before.</exception>
    /// <exception cref="InvalidOperationException">Called twice.</exception>
    public async Task ConnectAsync(CancellationToken cancellationToken = default)
    {
        var connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_closed is not null, this);
            if (_running is not null)
            {
                throw new InvalidOperationException("The client has been connected already; it reconnects by itself.");
            }

            // From here on a close waits for this attempt too.
            _running = RunAsync(connected, cancellationToken);
        }

        await connected.Task.ConfigureAwait(false);
    }

    /// <summary>Sends a request and reads its reply.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="reader">Reads the reply's body, on the session's loop.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives the request up; the server is told.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came; the exception says which.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public async Task<TResult> RequestAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(reader);
        cancellationToken.ThrowIfCancellationRequested();
        TimeSpan limit = timeout ?? _options.RequestTimeout;
        long started = _clock.PreciseMilliseconds;
        while (true)
        {
            TimeSpan left = Left(limit, started);
            Session session = await WaitForSessionAsync(left, cancellationToken).ConfigureAwait(false);
            var pending = new AwaitedReply<TResult>(reader);
            switch (session.TryRequest(type, in body, pending, _options.Timing, Left(limit, started), out uint correlation))
            {
                case SendStatus.Queued:
                    using (cancellationToken.UnsafeRegister(
                        static state =>
                        {
                            (Session s, uint c) = ((Session, uint))state!;
                            s.Cancel(c);
                        },
                        (session, correlation)))
                    {
                        try
                        {
                            return await pending.Task.ConfigureAwait(false);
                        }
                        catch (RequestFailedException) when (pending.WasRefusedByStop && _options.Reconnect && !_closing.IsCancellationRequested)
                        {
                            // The server has not run it: it may go to the next session.
                            Retire(session);
                            continue;
                        }
                        catch (OperationCanceledException)
                        {
                            throw new OperationCanceledException(cancellationToken);
                        }
                    }

                case SendStatus.Full:
                    await WaitAsync(session.WhenWritableAsync(cancellationToken), Left(limit, started), "The send queue stayed full.", cancellationToken)
                        .ConfigureAwait(false);
                    break;
                case SendStatus.TooLarge:
                    throw new ArgumentException($"The body has {body.Size} bytes; the frame limit allows {FrameLimits.LargestBody(session.Protocol.Output.Limit)}.", nameof(body));
                default:
                    Retire(session);
                    break;
            }
        }
    }

    /// <summary>Sends a request of raw bytes and copies the reply's body.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives the request up; the server is told.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came; the exception says which.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public Task<byte[]> RequestAsync(
        ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RequestAsync(
            type,
            new SequenceBody(new System.Buffers.ReadOnlySequence<byte>(body)),
            static (scoped in InboundReply reply) => System.Buffers.BuffersExtensions.ToArray(reply.Body),
            timeout,
            cancellationToken);

    /// <summary>Sends a one-way message, waiting for a connection and for room in the send queue.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <returns>Queued, Dropped or TooLarge.</returns>
    public async ValueTask<SendStatus> SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        while (true)
        {
            Session session = Session ?? await WaitForSessionAsync(_options.RequestTimeout, cancellationToken).ConfigureAwait(false);
            SendStatus status = await session.SendAsync(type, body, cancellationToken).ConfigureAwait(false);
            if (status != SendStatus.Closed)
            {
                return status;
            }

            Retire(session);
        }
    }

    /// <summary>
    /// Closes in order: Goodbye, replies in flight until <see cref="FastPortClientOptions.CloseTimeout"/>, then the connection ends. Requests that still
    /// wait for a connection fail, and so do new ones. When it is over, every <see cref="Disconnected"/> has been raised. Always ends; idempotent.
    /// Not to be awaited in an event or handler of this client.
    /// </summary>
    public Task CloseAsync()
    {
        lock (_gate)
        {
            if (_closed is null)
            {
                // Requests made from here on fail, and no session becomes current any more.
                Fail("The client was closed.");
                _closed = CloseCoreAsync();
            }

            return _closed;
        }
    }

    /// <summary>Closes the client.</summary>
    public async ValueTask DisposeAsync() => await CloseAsync().ConfigureAwait(false);

    void ISessionHost.OnOpened(Session session)
    {
    }

    void ISessionHost.OnClosed(Session session, CloseReason reason) => Retire(session);

    void ISessionHost.OnGoodbye(Session session, CloseReason reason) => Retire(session);

    private static TaskCompletionSource<Session> NewReady() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private async Task RunAsync(TaskCompletionSource connected, CancellationToken cancellationToken)
    {
        // Not on the caller's thread, which holds the lock.
        await Task.Yield();
        Session? session;
        try
        {
            using var both = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _closing.Token);
            session = await OpenSessionAsync(both.Token).ConfigureAwait(false);
            if (!TryPublish(session))
            {
                await session.Closed.ConfigureAwait(false);
                throw new OperationCanceledException("The client was closed while it connected.");
            }
        }
        catch (Exception e)
        {
            Fail($"The client is not connected: {e.Message}");
            if (e is OperationCanceledException)
            {
                connected.TrySetException(new OperationCanceledException(e.Message, e, cancellationToken));
            }
            else
            {
                connected.TrySetException(e);
            }

            return;
        }

        connected.TrySetResult();
        while (true)
        {
            long since = _clock.PreciseMilliseconds;
            await Retired(session).ConfigureAwait(false);
            if (_closing.IsCancellationRequested || !_options.Reconnect)
            {
                Fail("The connection has ended and the client does not reconnect.");
                return;
            }

            // A server that drops each session at once (an id that two clients fight for, a broken proxy) must not be tried in a tight loop.
            if (_clock.PreciseMilliseconds - since >= _options.MaxReconnectDelay.TotalMilliseconds)
            {
                _delays.Reset();
            }

            session = await ReconnectAsync().ConfigureAwait(false);
            if (session is null)
            {
                return;
            }
        }
    }

    // Null where the client was closed meanwhile.
    private async Task<Session?> ReconnectAsync()
    {
        while (true)
        {
            try
            {
                await Task.Delay(_delays.Next(), _clock.Time, _closing.Token).ConfigureAwait(false);
                Session session = await OpenSessionAsync(_closing.Token).ConfigureAwait(false);
                if (TryPublish(session))
                {
                    return session;
                }

                await session.Closed.ConfigureAwait(false);
                return null;
            }
            catch (Exception) when (_closing.IsCancellationRequested)
            {
                return null;
            }
            catch (Exception e)
            {
                // Whatever it is (no server, no descriptors, a refused token): only the user ends a client.
                ClientLog.ConnectFailed(_logger, _options.Endpoint, e.Message);
            }
        }
    }

    private async Task<Session> OpenSessionAsync(CancellationToken cancellationToken)
    {
        using var attempt = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using CancellationTokenSource deadline = new(_options.ConnectTimeout, _clock.Time);
        using CancellationTokenRegistration _ = deadline.Token.UnsafeRegister(static s => ((CancellationTokenSource)s!).Cancel(), attempt);
        Connection? connection = null;
        try
        {
            connection = await _connector.ConnectAsync(attempt.Token).ConfigureAwait(false);
            var protocol = new FrameProtocol(_settings);
            connection.Start(protocol);
            var pending = new AwaitedReply<WelcomeBody>(ReadWelcome);
            var hello = new HelloBody(_options.RoutingId, _options.Token, _options.ClientName);
            switch (protocol.TryRequest(ControlType.Hello, in hello, pending, timing: false, TimeSpan.Zero, out uint _))
            {
                case SendStatus.Queued:
                    break;
                case SendStatus.TooLarge:
                    throw new Hosting.FastPortOptionsException(
                        [$"The Hello has {hello.Size} bytes; the frame limit allows {FrameLimits.LargestBody(_options.Session.MaxFrameBytes)}. Shorten RoutingId, Token or ClientName."]);
                default:
                    throw new EndpointException(Endpoint.Parse(_options.Endpoint), $"The connection to {_options.Endpoint} was lost at once.");
            }

            protocol.Welcomed(await pending.Task.WaitAsync(attempt.Token).ConfigureAwait(false));
            return protocol.Session;
        }
        catch (OperationCanceledException e) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            await AbortAsync(connection).ConfigureAwait(false);
            throw new TimeoutException($"{_options.Endpoint} did not answer within {_options.ConnectTimeout.TotalSeconds:0.###} s. Is it a FastPort server?", e);
        }
        catch
        {
            await AbortAsync(connection).ConfigureAwait(false);
            throw;
        }
    }

    private static async Task AbortAsync(Connection? connection)
    {
        if (connection is not null)
        {
            connection.Abort(CloseReason.LocalClosed);
            await connection.Closed.ConfigureAwait(false);
        }
    }

    private static WelcomeBody ReadWelcome(scoped in InboundReply reply)
    {
        byte[] body = System.Buffers.BuffersExtensions.ToArray(reply.Body);
        return WelcomeBody.TryRead(body, out WelcomeBody welcome)
            ? welcome
            : throw new RequestFailedException(ErrorCode.MalformedBody, "The server's Welcome is malformed.");
    }

    // False where the client was closed meanwhile; the session is ended then, and neither event is raised.
    private bool TryPublish(Session session)
    {
        TaskCompletionSource<Session>? ready = null;
        lock (_gate)
        {
            if (_ended is null)
            {
                ready = _ready;
                _current = session;
                _open.Add(session, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
            }
        }

        if (ready is null)
        {
            session.Protocol.CloseWithGoodbye(CloseReason.LocalClosed);
            return false;
        }

        ClientLog.Connected(_logger, session);
        Raise(session, nameof(Connected), static (c, s, _) => c.Connected?.Invoke(s), null);
        _ = RaiseDisconnectedAsync(session);
        ready.TrySetResult(session);
        if (session.IsClosed)
        {
            // Lost before it was published: its OnClosed found nothing to retire.
            Retire(session);
        }

        return true;
    }

    // The session takes no more requests: those to come wait for the next one.
    private void Retire(Session session)
    {
        lock (_gate)
        {
            if (ReferenceEquals(_current, session))
            {
                _current = null;
                _ready = NewReady();
                _retired.TrySetResult();
                _retired = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
        }
    }

    private Task Retired(Session session)
    {
        lock (_gate)
        {
            return ReferenceEquals(_current, session) ? _retired.Task : Task.CompletedTask;
        }
    }

    private void Fail(string message)
    {
        lock (_gate)
        {
            _ended ??= message;
            _ready.TrySetException(new RequestFailedException(RequestFailure.Closed, message));
            _ = _ready.Task.Exception;
        }
    }

    private async Task RaiseDisconnectedAsync(Session session)
    {
        CloseReason reason = await session.Closed.ConfigureAwait(false);
        ClientLog.Disconnected(_logger, session, reason);
        Raise(session, nameof(Disconnected), static (c, s, r) => c.Disconnected?.Invoke(s, r!), reason);
        TaskCompletionSource? over;
        lock (_gate)
        {
            _open.Remove(session, out over);
        }

        over!.SetResult();
    }

    private void Raise(Session session, string name, Action<FastPortClient, Session, CloseReason?> raise, CloseReason? reason)
    {
        try
        {
            raise(this, session, reason);
        }
        catch (Exception e)
        {
            ClientLog.SubscriberFailed(_logger, session, name, e);
        }
    }

    private async Task<Session> WaitForSessionAsync(TimeSpan limit, CancellationToken cancellationToken)
    {
        Task<Session> ready;
        lock (_gate)
        {
            if (_ended is not null)
            {
                throw new RequestFailedException(RequestFailure.Closed, _ended);
            }

            if (_current is { } current)
            {
                return current;
            }

            ready = _ready.Task;
        }

        await WaitAsync(ready, limit, $"There was no connection to {_options.Endpoint} in time.", cancellationToken).ConfigureAwait(false);
        return await ready.ConfigureAwait(false);
    }

    private async Task WaitAsync(Task task, TimeSpan limit, string message, CancellationToken cancellationToken)
    {
        try
        {
            await task.WaitAsync(limit == TimeSpan.Zero ? Timeout.InfiniteTimeSpan : limit, _clock.Time, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException e)
        {
            throw new RequestFailedException(RequestFailure.TimedOut, message, e);
        }
    }

    // Zero means no limit, so what is left of a limit is at least a millisecond.
    private TimeSpan Left(TimeSpan limit, long started) => limit == TimeSpan.Zero
        ? TimeSpan.Zero
        : TimeSpan.FromMilliseconds(Math.Max(1, limit.TotalMilliseconds - (_clock.PreciseMilliseconds - started)));

    private async Task CloseCoreAsync()
    {
        // Not on the caller's thread, which holds the lock.
        await Task.Yield();
        await _closing.CancelAsync().ConfigureAwait(false);
        KeyValuePair<Session, TaskCompletionSource>[] open;
        Task? running;
        lock (_gate)
        {
            open = [.. _open];
            running = _running;
        }

        foreach ((Session session, _) in open)
        {
            session.Protocol.Leave(CloseReason.LocalClosed);
        }

        Task over = Task.WhenAll(open.Select(static pair => pair.Value.Task));
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
