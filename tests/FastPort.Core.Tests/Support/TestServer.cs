using System.Collections.Concurrent;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>
/// A server on an ephemeral port with an inline raw echo at <see cref="Echo"/>, and a record of its sessions and log lines.
/// </summary>
internal sealed class TestServer : IAsyncDisposable
{
    public const ushort Echo = 0x1000;

    private readonly ConcurrentQueue<Session> _opened = new();
    private readonly ConcurrentQueue<(Session Session, CloseReason Reason)> _closed = new();

    private TestServer(FastPortServerOptions options, MessageHandlers handlers, FastPortServerComponents components)
    {
        Server = new FastPortServer(options, handlers, components, Log);
        Server.SessionOpened += _opened.Enqueue;
        Server.SessionClosed += (session, reason) => _closed.Enqueue((session, reason));
    }

    public FastPortServer Server { get; }

    public RecordingLog Log { get; } = new();

    public Endpoint Endpoint => Server.Endpoints[0];

    public SessionCountersSnapshot Counts => Server.Counters.Snapshot();

    public IReadOnlyList<Session> Opened => [.. _opened];

    public IReadOnlyList<(Session Session, CloseReason Reason)> Closed => [.. _closed];

    public static async Task<TestServer> StartAsync(
        Action<MessageHandlers>? handlers = null,
        Action<FastPortServerOptions>? options = null,
        Action<FastPortServerComponents>? components = null)
    {
        var table = new MessageHandlers().MapInline(
            Echo, static (ref InlineRequest request) => request.Reply(new FastPort.Framing.SequenceBody(request.Body)), "TestEcho");
        handlers?.Invoke(table);
        var serverOptions = new FastPortServerOptions { MaxConnections = 500, ShutdownGrace = TimeSpan.FromMilliseconds(500) };
        serverOptions.Endpoints.Add("tcp://127.0.0.1:0");
        options?.Invoke(serverOptions);
        var serverComponents = new FastPortServerComponents();
        components?.Invoke(serverComponents);
        var server = new TestServer(serverOptions, table, serverComponents);
        await server.Server.StartAsync();
        if (serverComponents.Time is FakeTimeProvider time)
        {
            time.Fired += server.Settle;
        }

        return server;
    }

    /// <summary>
    /// Waits until the loops have done what was asked of them so far, such as the ticks of a fake clock. A loop that a handler holds up is
    /// not waited for.
    /// </summary>
    public void Settle() => LoopWork.Settle(Server.Sessions);

    public Task<RawPeer> ConnectAsync(int receiveBuffer = 0) => RawPeer.ConnectAsync(Endpoint, receiveBuffer);

    /// <summary>A peer that has said Hello, so that the server may send to it unasked.</summary>
    public async Task<RawPeer> ConnectKnownAsync(int receiveBuffer = 0)
    {
        RawPeer peer = await ConnectAsync(receiveBuffer);
        await peer.SayHelloAsync();
        return peer;
    }

    /// <summary>The one session there is, once it is there.</summary>
    public async Task<Session> SessionAsync(int index = 0)
    {
        await Patience.UntilAsync(() => _opened.Count > index, $"session {index} was opened");
        return Opened[index];
    }

    /// <summary>The reason of the only session that has ended.</summary>
    public async Task<CloseReason> CloseReasonAsync()
    {
        await Patience.UntilAsync(() => !_closed.IsEmpty, "a session was closed");
        return Assert.Single(Closed).Reason;
    }

    public async ValueTask DisposeAsync()
    {
        // Nothing in these tests is worth a grace period.
        await Server.StopAsync(new CancellationToken(canceled: true));
        Assert.Equal(_opened.Count, _closed.Count);
    }
}
