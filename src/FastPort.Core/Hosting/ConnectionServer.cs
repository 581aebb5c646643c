using System.Collections.Concurrent;
using System.Net;
using FastPort.Configuration;
using FastPort.Connections;
using FastPort.Sessions.Logging;
using FastPort.Telemetry.Counters;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Hosting;

/// <summary>
/// A server of any protocol: listeners, limits, counters and an ordered stop around a protocol that is made for each connection. Needs no
/// host;
/// <c>services.AddConnectionServer</c> runs it in one. Start it once, stop it once. Its members are safe from any thread.
/// <para>
/// An accepted connection is counted where it is accepted, under no lock of the server's, and everything else happens on the thread pool:
/// its stages, making its
/// protocol, and its start. So nothing that is plugged in runs on a thread that accepts.
/// </para>
/// </summary>
public sealed partial class ConnectionServer : IAsyncDisposable
{
    private readonly ServerOptions _options;
    private readonly Func<Connection, IConnectionProtocol> _protocol;
    private readonly Func<ConnectionClock, ConnectionSettings> _settings;
    private readonly ConnectionStage[] _stages;
    private readonly TransportCollection _transports;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Admission _admission;
    private readonly ConcurrentDictionary<long, AcceptedConnection> _accepted = new();
    private readonly CancellationTokenSource _stop = new();

    // Guards the start and the beginning of the stop against each other, and with that what follows.
    private readonly Lock _gate = new();
    private ITransportListener[] _listeners = [];
    private ConnectionClock? _clock;
    private Task? _stopped;
    private long _rejected;
    private long _rejectLogged = long.MinValue;
    private int _inStages;
    private volatile bool _stopping;

    /// <summary>Creates a server; nothing is bound before <see cref="StartAsync"/>.</summary>
    /// <param name="options">Options; checked here, not to be changed afterwards.</param>
    /// <param name="protocol">Makes the protocol of a connection. Called once per connection, on the thread pool; what it throws is logged
    /// and closes the connection.</param>
    /// <param name="components">Transports, stages and the source of time. Defaults to the library's own transports as the options name
    /// them, and no stages.</param>
    /// <param name="loggerFactory">Where to log. Defaults to nowhere.</param>
    /// <exception cref="FastPortOptionsException">Options are out of range, or no transport serves an endpoint's scheme.</exception>
    public ConnectionServer(
        ConnectionServerOptions options,
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
            new ServerCounters(),
            options is null ? null! : options.ToConnectionSettings)
    {
    }

    internal ConnectionServer(
        ServerOptions options,
        Func<Connection, IConnectionProtocol> protocol,
        ConnectionServerComponents components,
        ILogger logger,
        ServerCounters counters,
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
        _stages = [.. components.Stages];
        _transports = components.Transports.OrElse(() => TransportCollection.CreateDefault(options.Transport, options.ToEpollOptions()));
        string[] unserved = [.. options.Endpoints.Where(text => !_transports.Supports(Endpoint.Parse(text).Scheme))];
        if (unserved.Length != 0)
        {
            string place = $"{options.Section}:Endpoints";
            throw new FastPortOptionsException(
                [.. unserved.Select(text => $"{place}: no transport serves '{text}'. Use {TransportSelection.Examples}.")]);
        }

        _admission = new Admission(options.MaxConnections, options.MaxConnectionsPerAddress);
        Counters = counters;
    }

    /// <summary>What the server counts: connections accepted, closed and rejected, and failed accepts. Messages and bytes are the
    /// protocol's to count.</summary>
    public ServerCounters Counters { get; }

    /// <summary>Where the server listens, with the ports really bound; empty before the start.</summary>
    public IReadOnlyList<Endpoint> Endpoints => [.. Volatile.Read(ref _listeners).Select(static l => l.Endpoint)];

    /// <summary>A limit of the user's own, if there is one.</summary>
    internal ConnectionPlaces? Places { get; init; }

    /// <summary>Connections that are open, those in stages included.</summary>
    public int ConnectionCount => _admission.Count;

    /// <summary>The connections that have their protocol, as of now.</summary>
    public IReadOnlyCollection<Connection> Connections => [.. _accepted.Values.Select(static a => a.Served).OfType<Connection>()];

    /// <summary>Binds every endpoint and begins to accept. Where one cannot be bound, none stays bound.</summary>
    /// <param name="cancellationToken">Not started if cancelled already.</param>
    /// <exception cref="EndpointException">An endpoint cannot be bound; the message says which, why, and what to do.</exception>
    /// <exception cref="InvalidOperationException">Started or stopped already, or stopped while it started.</exception>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            if (_clock is not null || _stopping)
            {
                throw new InvalidOperationException("The server has been started or stopped already; make a new one to start again.");
            }

            _clock = new ConnectionClock(_time);
        }

        Memory.Enter(this);

        try
        {
            KeepDescriptors();
            Listen(_settings(_clock));

            // Again: the event loops, of which there may be many, have taken theirs.
            KeepDescriptors();
        }
        catch
        {
            await StopAsync(CancellationToken.None).ConfigureAwait(false);
            throw;
        }

        WarnAboutDescriptors();
        foreach (Endpoint endpoint in Endpoints)
        {
            ServerLog.Listening(_logger, endpoint);
        }
    }

    /// <summary>Stops the server.</summary>
    public async ValueTask DisposeAsync() => await StopAsync(CancellationToken.None).ConfigureAwait(false);

    /// <summary>Stages, protocol and start of one connection. On the thread pool; never throws.</summary>
    internal async Task OpenAsync(AcceptedConnection accepted)
    {
        try
        {
            Connection? top = accepted.Connection;
            if (_stages.Length != 0)
            {
                top = await RunStagesAsync(accepted).ConfigureAwait(false);
                if (top is null)
                {
                    return;
                }
            }

            if (_stopping)
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
            }
            else
            {
                // It has ended meanwhile.
                Places?.Leave(null);
            }
        }
        catch (Exception e)
        {
            ServerLog.OpenFailed(_logger, accepted.Address, e);
            accepted.Connection.Close(
                new CloseReason(CloseKind.Internal, "The connection's protocol could not be made or started; see the log.", Exception: e));
        }
    }

    /// <summary>A connection that was let in has ended.</summary>
    internal void Leave(EndPoint? address, bool wasCounted, Connection? served)
    {
        _admission.Leave(address);
        if (wasCounted)
        {
            Places?.Leave(served);
            Counters.ConnectionClosed();
        }
    }

    /// <summary>A connection that was let in has ended, and its protocol knows.</summary>
    internal void Forget(AcceptedConnection accepted) => _accepted.TryRemove(accepted.Connection.Id, out _);

    // A stop on another thread waits for the lock and finds every listener. One that comes from inside, as from a transport's callback, is
    // seen before the next.
    private void Listen(ConnectionSettings settings)
    {
        lock (_gate)
        {
            foreach (string text in _options.Endpoints.Count == 0 ? ["tcp://127.0.0.1:6628"] : _options.Endpoints)
            {
                if (_stopping)
                {
                    throw new InvalidOperationException("The server was stopped while it started.");
                }

                ITransportListener listener = _transports.CreateListener(Endpoint.Parse(text), settings);
                Volatile.Write(ref _listeners, [.. _listeners, listener]);
                listener.Start(OnAccepted);
            }
        }
    }

    // On a thread that accepts, perhaps under its lock: nothing of the user's runs here, loggers included.
    private void OnAccepted(Connection connection)
    {
        ConnectionRejection? rejection = _stopping ? ConnectionRejection.ShuttingDown : _admission.TryEnter(connection.RemoteEndPoint);
        if (rejection is not null)
        {
            // Its descriptor is free at once.
            connection.Abort(Rejected(rejection.Value, out string reason));
            if (IsTimeToLog())
            {
                long rejected = Volatile.Read(ref _rejected);
                ThreadPool.UnsafeQueueUserWorkItem(_ => ServerLog.Rejected(_logger, connection.RemoteEndPoint, reason, rejected), null);
            }

            return;
        }

        var accepted = new AcceptedConnection(this, connection);
        connection.Owner = accepted;
        _accepted[connection.Id] = accepted;
        ThreadPool.UnsafeQueueUserWorkItem(accepted, preferLocal: false);
    }

    private async Task<Connection?> RunStagesAsync(AcceptedConnection accepted)
    {
        if (Interlocked.Increment(ref _inStages) > _options.MaxConnectionsInStages)
        {
            Interlocked.Decrement(ref _inStages);
            Reject(accepted, ConnectionRejection.StageLimit);
            return null;
        }

        Task<Connection?> running = Task.FromResult<Connection?>(null);
        TimeSpan limit = _options.StageTimeout > TimeSpan.Zero ? _options.StageTimeout : Timeout.InfiniteTimeSpan;
        using CancellationTokenSource deadline = new(limit, _time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, _stop.Token);
        try
        {
            Connection top = accepted.Connection;
            foreach (ConnectionStage stage in _stages)
            {
                // Not longer than the token, whether the stage looks at it or not: what comes after the connection's end helps nobody.
                running = stage(top, both.Token).AsTask();
                Connection? next = await running.WaitAsync(both.Token).ConfigureAwait(false);
                if (next is null)
                {
                    Reject(accepted, ConnectionRejection.Refused);
                    return null;
                }

                top = next;
                if (!accepted.TryMove(_admission, top.RemoteEndPoint))
                {
                    Reject(accepted, ConnectionRejection.AddressLimit);
                    return null;
                }
            }

            return top;
        }
        catch (Exception) when (both.IsCancellationRequested)
        {
            Reject(accepted, _stopping ? ConnectionRejection.ShuttingDown : ConnectionRejection.StageTimeout);
            return null;
        }
        catch (Exception e)
        {
            ServerLog.StageFailed(_logger, accepted.Address, e);
            Reject(accepted, ConnectionRejection.StageFailed);
            return null;
        }
        finally
        {
            // A stage that does not look at its token counts until it ends by itself: otherwise nothing would bound how many of them run.
            _ = running.ContinueWith(
                static (ended, server) =>
                {
                    _ = ended.Exception;
                    Interlocked.Decrement(ref ((ConnectionServer)server!)._inStages);
                },
                this,
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
        }
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
            ServerLog.DescriptorLimit(_logger, _options.Section, _options.MaxConnections, limit, _admission.MaxConnections);
        }
    }

    private void Reject(AcceptedConnection accepted, ConnectionRejection rejection, string? why = null)
    {
        EndPoint? address = accepted.Address;
        CloseReason closed = Rejected(rejection, out string reason, why);
        if (IsTimeToLog())
        {
            ServerLog.Rejected(_logger, address, reason, Volatile.Read(ref _rejected));
        }

        accepted.Connection.Abort(closed);
    }

    private CloseReason Rejected(ConnectionRejection rejection, out string reason, string? why = null)
    {
        Counters.ConnectionRejected(rejection);
        Interlocked.Increment(ref _rejected);
        string section = _options.Section;
        reason = why ?? rejection switch
        {
            ConnectionRejection.ConnectionLimit when _admission.MaxConnections < _options.MaxConnections =>
                $"this process has descriptors for {_admission.MaxConnections} connections",
            ConnectionRejection.ConnectionLimit => $"{section}:MaxConnections is {_options.MaxConnections}",
            ConnectionRejection.AddressLimit => $"{section}:MaxConnectionsPerAddress is {_admission.MaxPerAddress}",
            ConnectionRejection.StageLimit => $"{section}:MaxConnectionsInStages is {_options.MaxConnectionsInStages}",
            ConnectionRejection.StageTimeout => $"its stages did not end within {section}:StageTimeout, {_options.StageTimeout:c}",
            ConnectionRejection.StageFailed => "a stage failed, see event 3008",
            ConnectionRejection.Refused => "a stage refused it",
            _ => "the server is stopping",
        };
        return new CloseReason(rejection == ConnectionRejection.ShuttingDown ? CloseKind.Stopping : CloseKind.LocalClosed, reason);
    }

    // A flood of connections must not become a flood of lines: one a second, with the count.
    private bool IsTimeToLog()
    {
        long now = _clock!.PreciseMilliseconds;
        long last = Volatile.Read(ref _rejectLogged);
        return (last == long.MinValue || now - last >= 1000) && Interlocked.CompareExchange(ref _rejectLogged, now, last) == last;
    }
}
