using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Identities;

/// <summary>Peers of Unix sockets, whom the kernel vouches for.</summary>
public sealed class UnixUserTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("Epoll")]
    [InlineData("Sockets")]
    public async Task A_peer_of_a_Unix_socket_is_its_user(string transport)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux tells who the peer is.");
        await using SecureServer server = await SecureServer.StartAsync(
            static o => o.UnixUsers = true, $"unix://{_directory["s"]}", transport: transport);

        await server.ConnectAsync();

        Session session = Assert.Single(server.Server.Sessions);
        UnixPeer peer = session.Connection.UnixPeer!.Value;
        Assert.Equal(Environment.ProcessId, peer.ProcessId);
        Assert.Equal($"uid:{peer.UserId}", session.User!.Identity!.Name);
        Assert.True(session.User.IsInRole($"gid:{peer.GroupId}"));
    }

    [Fact]
    public async Task A_peer_of_TCP_has_no_user()
    {
        await using SecureServer server = await SecureServer.StartAsync(static o => o.UnixUsers = true);

        await Assert.ThrowsAsync<RequestFailedException>(() => server.ConnectAsync());
    }
}
