using System.Globalization;
using System.Net.Sockets;
using System.Runtime.Versioning;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Transports;
using FastPort.Transports.Sockets;
using FastPort.Transports.Unix;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Transports;

[UnsupportedOSPlatform("windows")]
public sealed class UnixSocketTests : IDisposable
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly TemporaryDirectory _directory = new();
    private readonly ConnectionClock _clock = new();

    private string Path => _directory["fastport.sock"];

    private string Uri => $"unix://{Path}";

    public void Dispose()
    {
        _clock.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task The_file_belongs_to_its_owner_alone_and_goes_with_the_server()
    {
        await using (TestServer server = await StartAsync(Uri))
        {
            Assert.Equal(Uri, server.Endpoint.ToString());
            Assert.Equal(OwnerOnly, File.GetUnixFileMode(Path));
            using RawPeer peer = await server.ConnectAsync();
            await peer.PingAsync();
        }

        Assert.False(File.Exists(Path));
    }

    [Theory]
    [InlineData("0660", UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite)]
    [InlineData("200", UnixFileMode.UserWrite)]
    public async Task The_permissions_are_those_that_were_configured_whatever_the_umask(string permissions, UnixFileMode expected)
    {
        await using TestServer server = await StartAsync(Uri, permissions);

        Assert.Equal(expected, File.GetUnixFileMode(Path));
    }

    [Theory]
    [InlineData("0888")]
    [InlineData("1777")]
    [InlineData("rw-rw----")]
    [InlineData("")]
    public void Permissions_that_are_none_are_a_wrong_option(string permissions)
    {
        var options = new FastPortServerOptions { UnixSocketPermissions = permissions };

        string shown = permissions.Length == 0 ? "empty" : $"'{permissions}'";
        Assert.Equal([$"FastPort:UnixSocketPermissions is {shown}; allowed: 0000 to 0777, octal."], options.Validate());
    }

    [Fact]
    public void Nobody_connects_before_the_permissions_are_set()
    {
        var file = new UnixSocketFile(Endpoint.Parse(Uri), Settings() with { UnixSocketPermissions = UnixFileMode.UserWrite });
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        file.Prepare();
        socket.Bind(file.Address);

        Assert.Equal(SocketError.ConnectionRefused, Connect());
        file.AfterBind();
        Assert.Equal(UnixFileMode.UserWrite, File.GetUnixFileMode(Path));
        socket.Listen();
        file.AfterListen();

        Assert.Equal(SocketError.Success, Connect());
    }

    [LinuxTheory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task Both_ends_hold_more_on_the_way_than_the_system_s_default(TransportKind transport)
    {
        await using TestServer server = await TestServer.StartAsync(options: o =>
        {
            o.Transport = transport;
            o.Endpoints.Clear();
            o.Endpoints.Add(Uri);
        });
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = Uri, Transport = transport });
        await client.ConnectAsync();

        var address = new UnixDomainSocketEndPoint(Path);
        int[] ends = [.. OwnSockets.ConnectedTo(address), .. OwnSockets.AcceptedAt(address)];

        // The kernel takes no more than its limit, and doubles it; a default that is larger stays.
        int usual = Kernel("wmem_default");
        int expected = usual < SocketTuning.UnixSendBuffer ? 2 * Math.Min(SocketTuning.UnixSendBuffer, Kernel("wmem_max")) : usual;
        Assert.Equal([expected, expected], ends.Select(OwnSockets.SendBufferOf));

        static int Kernel(string name) => int.Parse(File.ReadAllText($"/proc/sys/net/core/{name}"), CultureInfo.InvariantCulture);
    }

    [Fact]
    public async Task A_file_that_a_killed_server_left_is_taken_over()
    {
        LeaveStaleFile();

        await using TestServer server = await StartAsync(Uri);

        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_path_in_use_is_named_and_its_server_goes_on()
    {
        await using TestServer first = await StartAsync(Uri);

        await RefusedAsync(Uri, "it is in use.");

        using RawPeer peer = await first.ConnectAsync();
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_listener_whose_backlog_is_full_is_in_use_too()
    {
        using Socket busy = Listen(Path, backlog: 0);
        using RawPeer waiting = await RawPeer.ConnectAsync(Endpoint.Parse(Uri));

        await RefusedAsync(Uri, "it is in use.");
    }

    [Fact]
    public async Task A_file_that_is_no_socket_is_not_touched()
    {
        await File.WriteAllTextAsync(Path, "precious");

        await RefusedAsync(Uri, "the path is a file that is not a socket, so it is not removed.");

        Assert.Equal("precious", await File.ReadAllTextAsync(Path));
    }

    [Fact]
    public async Task A_link_to_a_stale_socket_is_not_touched()
    {
        LeaveStaleFile();
        string link = _directory["link.sock"];
        File.CreateSymbolicLink(link, Path);

        await RefusedAsync($"unix://{link}", "the path is a file that is not a socket, so it is not removed.");

        Assert.True(File.Exists(Path));
        Assert.NotNull(new FileInfo(link).LinkTarget);
    }

    [Fact]
    public async Task A_missing_directory_is_named() =>
        await RefusedAsync($"unix://{_directory["missing"]}/fastport.sock", $"there is no directory '{_directory["missing"]}'.");

    [Fact]
    public async Task A_path_too_long_is_refused_with_its_length_and_the_limit()
    {
        string path = _directory[new string('ä', 60)];
        int length = System.Text.Encoding.UTF8.GetByteCount(path);

        await RefusedAsync($"unix://{path}", $"the path has {length} bytes, but the system allows only 107.");

        string longest = Path + new string('x', 107 - Path.Length);
        await using TestServer server = await StartAsync($"unix://{longest}");
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_file_that_took_our_place_stays_when_the_server_stops()
    {
        await using TestServer server = await StartAsync(Uri);
        File.Delete(Path);
        using Socket other = Listen(Path, backlog: 5);

        await server.Server.StopAsync();

        Assert.True(File.Exists(Path));
        using RawPeer peer = await RawPeer.ConnectAsync(Endpoint.Parse(Uri));
    }

    [Fact]
    public async Task A_server_whose_other_endpoint_cannot_be_bound_leaves_no_file()
    {
        await RefusedAsync([Uri, $"unix://{_directory["missing"]}/x"], "there is no directory");

        Assert.False(File.Exists(Path));
    }

    [Fact]
    public async Task A_path_can_be_served_again_at_once()
    {
        for (int i = 0; i < 5; i++)
        {
            await using TestServer server = await StartAsync(Uri);
            using RawPeer peer = await server.ConnectAsync();
            await peer.PingAsync();
        }
    }

    [Fact]
    public async Task A_name_without_a_file_is_served_and_can_be_in_use()
    {
        string uri = $"unix://@fastport-{Guid.NewGuid():n}";
        await using (TestServer server = await StartAsync(uri))
        {
            using RawPeer peer = await server.ConnectAsync();
            await peer.PingAsync();
            Assert.Equal(uri["unix://".Length..], server.Opened[0].RemoteEndPoint!.ToString());
            await RefusedAsync(uri, "it is in use.");
        }

        await using TestServer again = await StartAsync(uri);
    }

    [Fact]
    public async Task A_name_without_a_file_takes_no_permissions()
    {
        var e = await Assert.ThrowsAsync<EndpointException>(() => StartAsync("unix://@fastport-permissions", "0600"));

        Assert.Contains("a name without a file has no permissions", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Peers_are_known_by_the_path_and_no_limit_per_address_lumps_them_together()
    {
        await using TestServer server = await StartAsync(Uri, options: static o => o.MaxConnectionsPerAddress = 1);
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();
        await first.PingAsync();
        await second.PingAsync();

        Assert.Equal(2, server.Opened.Count);
        Assert.All(
            server.Opened, session => Assert.Equal(Path, Assert.IsType<UnixDomainSocketEndPoint>(session.RemoteEndPoint).ToString()));
        Assert.Contains($"({Path})", server.Opened[0].ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Connecting_says_why_it_fails()
    {
        await CannotConnectAsync("there is no such file");
        LeaveStaleFile();
        await CannotConnectAsync("nothing listens there");
        if (!Environment.IsPrivilegedProcess)
        {
            await using TestServer server = await StartAsync(Uri, "0000");
            await CannotConnectAsync("permission denied");
        }
    }

    [Fact]
    public async Task Connecting_waits_while_the_backlog_is_full()
    {
        using Socket busy = Listen(Path, backlog: 0);
        using RawPeer first = await RawPeer.ConnectAsync(Endpoint.Parse(Uri));
        ITransportConnector connector = new SocketTransport().CreateConnector(Endpoint.Parse(Uri), Settings());

        Task<Connection> connecting = connector.ConnectAsync(Patience.Token).AsTask();
        Assert.False(connecting.IsCompleted);
        using Socket accepted = await busy.AcceptAsync(Patience.Token);

        Connection connection = await connecting.InTimeAsync();
        connection.Abort(CloseReason.LocalClosed);
        await connection.Closed.InTimeAsync();
    }

    private static Task<TestServer> StartAsync(string uri, string? permissions = null, Action<FastPortServerOptions>? options = null) =>
        TestServer.StartAsync(options: o =>
        {
            o.Endpoints.Clear();
            o.Endpoints.Add(uri);
            o.UnixSocketPermissions = permissions;
            options?.Invoke(o);
        });

    private static Task RefusedAsync(string uri, string reason) => RefusedAsync([uri], reason);

    private static async Task RefusedAsync(string[] uris, string reason)
    {
        var options = new FastPortServerOptions();
        foreach (string uri in uris)
        {
            options.Endpoints.Add(uri);
        }

        await using var server = new FastPortServer(options, new MessageHandlers());
        var e = await Assert.ThrowsAsync<EndpointException>(() => server.StartAsync());
        Assert.StartsWith($"Cannot listen on {uris[^1]}: {reason}", e.Message, StringComparison.Ordinal);
    }

    private static Socket Listen(string path, int backlog)
    {
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Bind(new UnixDomainSocketEndPoint(path));
        socket.Listen(backlog);
        return socket;
    }

    private ConnectionSettings Settings() => new() { Clock = _clock, Logger = NullLogger.Instance };

    private async Task CannotConnectAsync(string reason)
    {
        ITransportConnector connector = new SocketTransport().CreateConnector(Endpoint.Parse(Uri), Settings());
        var e = await Assert.ThrowsAsync<EndpointException>(async () => await connector.ConnectAsync(Patience.Token));
        Assert.StartsWith($"Cannot connect to {Uri}: {reason}", e.Message, StringComparison.Ordinal);
    }

    private SocketError Connect()
    {
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            socket.Connect(new UnixDomainSocketEndPoint(Path));
            return SocketError.Success;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode;
        }
    }

    // As the kernel leaves it when a server is killed: the file without a socket that listens.
    private void LeaveStaleFile()
    {
        string elsewhere = Path + ".elsewhere";
        using (Socket socket = Listen(elsewhere, backlog: 1))
        {
            File.Move(elsewhere, Path);
        }

        Assert.True(File.Exists(Path));
    }
}
