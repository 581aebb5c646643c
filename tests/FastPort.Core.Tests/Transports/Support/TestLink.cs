using System.Collections.Concurrent;
using System.Threading.Channels;
using FastPort.Connections;
using FastPort.Core.Tests.Buffers;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>
/// A listener on one kind of link, and connections to it whose both ends are <see cref="TestProtocol"/>s. Disposing it ends them all and
/// asserts that the transport kept its word to each and left nothing behind.
/// </summary>
internal sealed class TestLink : IAsyncDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly ConcurrentQueue<TestProtocol> _all = new();
    private readonly ConcurrentQueue<Connection> _others = new();
    private readonly ConcurrentQueue<RawEnd> _raw = new();
    private (TestProtocol Server, TaskCompletionSource<Connection> Accepted)? _forgotten;
    private readonly Channel<TestProtocol> _accepted = Channel.CreateUnbounded<TestProtocol>();

    private TestLink(LinkKind kind, Func<ConnectionSettings, ConnectionSettings>? settings, TimeProvider? time)
    {
        Kind = kind;
        Clock = new ConnectionClock(time);
        Settings = new ConnectionSettings { Clock = Clock, Logger = Log, Pool = Pool };
        Settings = settings?.Invoke(Settings) ?? Settings;
        Transport = kind.CreateTransport();
        Listener = Transport.CreateListener(Endpoint.Parse(kind.Uri(_directory)), Settings);
    }

    public LinkKind Kind { get; }

    public RecordingLog Log { get; } = new();

    /// <summary>
    /// Where both ends' buffers come from. What is used after its return is spoilt, what is not returned at the end fails the test.
    /// </summary>
    public TrackingArrayPool Pool { get; } = new();

    public ConnectionClock Clock { get; }

    public ConnectionSettings Settings { get; }

    public ITransport Transport { get; }

    public ITransportListener Listener { get; }

    public Endpoint Endpoint => Listener.Endpoint;

    /// <summary>Makes the protocols of accepted connections.</summary>
    public Func<TestProtocol> Serve { get; set; } = static () => new TestProtocol();

    /// <summary>Makes protocols of another kind for accepted connections, in place of <see cref="Serve"/>.</summary>
    public Func<IConnectionProtocol>? ServeOther { get; set; }

    /// <summary>The accepted connections that have such a protocol.</summary>
    public IReadOnlyList<Connection> Others => [.. _others];

    /// <param name="link">The link's name.</param>
    /// <param name="settings">Changes the settings of both ends.</param>
    /// <param name="time">Defaults to the system's.</param>
    public static TestLink Open(string link, Func<ConnectionSettings, ConnectionSettings>? settings = null, TimeProvider? time = null) =>
        Open(Links.Get(link), settings, time);

    public static TestLink Open(LinkKind link, Func<ConnectionSettings, ConnectionSettings>? settings = null, TimeProvider? time = null)
    {
        var opened = new TestLink(link, settings, time);
        opened.Listener.Start(opened.Accept);
        return opened;
    }

    /// <summary>A connection between two protocols.</summary>
    public async Task<(TestProtocol Client, TestProtocol Server)> ConnectAsync(TestProtocol? client = null, TestProtocol? server = null)
    {
        if (server is not null)
        {
            Serve = () => server;
        }

        client ??= new TestProtocol();
        _all.Enqueue(client);
        Connection connection = await Transport.CreateConnector(Endpoint, Settings).ConnectAsync(Patience.Token);
        client.Connection = connection;
        connection.Start(client);
        await client.WhenOpened.InTimeAsync();
        return (client, await AcceptedAsync());
    }

    /// <summary>A connection between a raw end and a protocol.</summary>
    public async Task<(RawEnd Raw, TestProtocol Server)> ConnectRawAsync(TestProtocol? server = null, bool takesLittle = false)
    {
        if (server is not null)
        {
            Serve = () => server;
        }

        return (await ConnectRawAloneAsync(takesLittle), await AcceptedAsync());
    }

    /// <summary>A raw end whose connection may not get as far as a protocol.</summary>
    public async Task<RawEnd> ConnectRawAloneAsync(bool takesLittle = false)
    {
        RawEnd raw = await Kind.ConnectRawAsync(this, takesLittle);
        _raw.Enqueue(raw);
        return raw;
    }

    /// <summary>Connects to a listener that ends every connection at once, perhaps before connecting has come to its own end.</summary>
    public async Task ConnectToBeRefusedAsync()
    {
        try
        {
            RawEnd raw = await ConnectRawAloneAsync();
            await raw.ExpectGoneAsync();
        }
        catch (Exception e) when (e is System.Net.Sockets.SocketException or IOException)
        {
            // Reset while connecting, or within the handshake.
        }
    }

    /// <summary>
    /// A connection that is not started yet and of which nothing here keeps either end; the other end comes when it is accepted.
    /// </summary>
    public async Task<Connection> ConnectForgottenAsync(TestProtocol server, TaskCompletionSource<Connection> accepted)
    {
        _forgotten = (server, accepted);
        return await Transport.CreateConnector(Endpoint, Settings).ConnectAsync(Patience.Token);
    }

    /// <summary>The next connection that was accepted.</summary>
    public async Task<TestProtocol> AcceptedAsync()
    {
        TestProtocol accepted = await _accepted.Reader.ReadAsync(Patience.Token);
        await accepted.WhenOpened.InTimeAsync();
        return accepted;
    }

    public async ValueTask DisposeAsync()
    {
        await Listener.DisposeAsync();
        foreach (TestProtocol protocol in _all)
        {
            protocol.Connection?.Abort(CloseReason.LocalClosed);
        }

        foreach (TestProtocol protocol in _all)
        {
            if (protocol.Connection is not null)
            {
                await protocol.ClosedAsync();
            }

            Assert.Empty(protocol.Misuse);
        }

        foreach (Connection connection in _others)
        {
            connection.Abort(CloseReason.LocalClosed);
            await connection.Closed.InTimeAsync();
        }

        foreach (RawEnd raw in _raw)
        {
            raw.Dispose();
            await raw.Over.InTimeAsync();
        }

        // The connection below an encrypted one may end after it, on another thread.
        await Patience.UntilAsync(() => Pool.Outstanding == 0, "all arrays were returned");
        Pool.AssertAllReturned();

        Clock.Dispose();
        Assert.Empty(Directory.GetFileSystemEntries(_directory.Path));
        _directory.Dispose();
    }

    private void Accept(Connection connection)
    {
        if (_forgotten is { } forgotten)
        {
            _forgotten = null;
            forgotten.Server.Connection = connection;
            connection.Start(forgotten.Server);
            forgotten.Accepted.SetResult(connection);
            return;
        }

        if (ServeOther is { } serve)
        {
            _others.Enqueue(connection);
            connection.Start(serve());
            return;
        }

        TestProtocol protocol = Serve();
        protocol.Connection = connection;
        _all.Enqueue(protocol);
        connection.Start(protocol);
        _accepted.Writer.TryWrite(protocol);
    }
}
