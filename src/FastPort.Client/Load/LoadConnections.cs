using FastPort.Connections;
using FastPort.Framing;
using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>The clients of a run, one per connection, all on one clock. They reconnect automatically.</summary>
internal sealed class LoadConnections : IAsyncDisposable
{
    /// <summary>The problem of a connection that is one of <see cref="Disconnected"/>.</summary>
    public const string NoSession = "The client was still reconnecting.";

    private const int ConnectingAtOnce = 64;
    private const int LargestQueue = 256 * 1024 * 1024;

    private static readonly TimeSpan RampPatience = TimeSpan.FromSeconds(30);

    private readonly ConnectionClock _clock = new();
    private readonly FastPortClient[] _clients;
    private readonly LoadSettings _settings;
    private readonly ConnectionWatch _watch;
    private int _connected;

    /// <param name="settings">The run.</param>
    /// <param name="server">The server's URI.</param>
    /// <param name="bodySize">Bytes of the bodies to be sent or received.</param>
    /// <param name="watch">Counts lost connections, and logs why the clients do not connect again.</param>
    /// <param name="connected">Called with each session and the connection's number.</param>
    /// <param name="handlers">Creates the handlers of a connection. Defaults to none.</param>
    public LoadConnections(
        LoadSettings settings, string server, int bodySize, ConnectionWatch watch, Action<int, Session> connected,
        Func<int, MessageHandlers>? handlers = null)
    {
        _settings = settings;
        _watch = watch;
        _clients = new FastPortClient[settings.Connections];
        FastPortClientOptions options = Options(settings, server, bodySize);

        // The first connection shows whether there is a server. The others wait longer: a machine that is busy with thousands of connection
        // attempts may delay one.
        FastPortClientOptions patient = Options(settings, server, bodySize);
        patient.ConnectTimeout = RampPatience;
        for (int i = 0; i < _clients.Length; i++)
        {
            int number = i;
            var client = new FastPortClient(i == 0 ? options : patient, handlers?.Invoke(i), watch, _clock);
            client.Connected += session => connected(number, session);
            client.Disconnected += (_, reason) => watch.OnDisconnected(reason);
            _clients[i] = client;
        }
    }

    /// <summary>Connections that were lost; the clients reconnect them.</summary>
    public long Lost => _watch.Lost;

    /// <summary>The largest body that the server accepts.</summary>
    public int MaxBodyBytes => _clients[0].Session?.MaxBodyBytes ?? FrameLimits.MaxBodyBytes(FrameLimits.Maximum);

    /// <summary>Connections that <see cref="ConnectAsync"/> has opened so far.</summary>
    public int Connected => Volatile.Read(ref _connected);

    /// <summary>Connects one client, then the others, up to 64 at a time.</summary>
    /// <exception cref="LoadFailedException">The server cannot be reached or refuses.</exception>
    public async Task ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            await ConnectOneAsync(_clients[0], cancellationToken).ConfigureAwait(false);
            await Parallel.ForEachAsync(
                _clients.Skip(1),
                new ParallelOptions { MaxDegreeOfParallelism = ConnectingAtOnce, CancellationToken = cancellationToken },
                ConnectOneAsync).ConfigureAwait(false);
        }
        catch (Exception e) when (e is EndpointException or TimeoutException or RequestFailedException)
        {
            throw Descriptors.Explain(_settings, e) ?? new LoadFailedException(e.Message, ExitCode.Failed, e);
        }
    }

    /// <summary>The numbers, from 0, of the connections that have no session now.</summary>
    public IReadOnlyList<int> Disconnected() => [.. Enumerable.Range(0, _clients.Length).Where(i => _clients[i].Session is null)];

    /// <summary>Throws if the server does not accept a body of this size.</summary>
    /// <exception cref="LoadFailedException">The body is too large.</exception>
    public void RequireBody(int size)
    {
        if (size > MaxBodyBytes)
        {
            throw new LoadFailedException($"--size is {size}; the server's frame limit allows 0 to {MaxBodyBytes} bytes.", ExitCode.Usage);
        }
    }

    /// <summary>Aborts the connections.</summary>
    public void Abort()
    {
        _watch.Closing();
        foreach (FastPortClient client in _clients)
        {
            client.Session?.Abort();
        }
    }

    public async ValueTask DisposeAsync()
    {
        _watch.Closing();
        await Task.WhenAll(_clients.Select(static c => c.CloseAsync())).ConfigureAwait(false);
        _clock.Dispose();
    }

    private async ValueTask ConnectOneAsync(FastPortClient client, CancellationToken cancellationToken)
    {
        await client.ConnectAsync(cancellationToken).ConfigureAwait(false);
        Interlocked.Increment(ref _connected);
    }

    internal static FastPortClientOptions Options(LoadSettings settings, string server, int bodySize)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = server,
            TokenFile = settings.TokenFile,
            Timing = true,
            ClientName = "FastPort.Client load",
        };
        settings.Access.ApplyTo(options);
        settings.Transport.ApplyTo(options);
        options.Session.MaxFrameBytes = Math.Clamp(bodySize + FrameHeader.MinimumLength, FrameLimits.Default, FrameLimits.Maximum);

        // Room for all requests in flight, so that the closed loop never waits for its own queue.
        long inFlight = (long)settings.InFlight * (bodySize + FrameHeader.Size + FrameTiming.Size);
        options.Session.SendQueueBytes = settings.Mode == LoadMode.Sink
            ? OneWayBounds.QueueBytes(settings.Connections)
            : (int)Math.Clamp(inFlight, 1024 * 1024, LargestQueue);
        return options;
    }
}
