using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class ConnectionLimitTests
{
    [Fact]
    public async Task Connections_above_the_limit_are_closed_with_one_log_line_and_counted()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.MaxConnections = 2, components: h => h.Time = time);
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();
        await first.PingAsync();
        await second.PingAsync();

        for (int i = 0; i < 5; i++)
        {
            using RawPeer extra = await server.ConnectAsync();
            await extra.ExpectGoneAsync();
        }

        await first.PingAsync();
        await second.PingAsync();
        await Patience.UntilAsync(() => server.Log.WithId(3001).Count != 0, "the rejection was logged");
        LogLine line = Assert.Single(server.Log.WithId(3001));
        Assert.Equal(LogLevel.Warning, line.Level);
        Assert.Contains("FastPort:MaxConnections is 2", line.Text, StringComparison.Ordinal);
        Assert.Equal(5, server.Counts.ConnectionsRejectedFor(ConnectionRejection.ConnectionLimit));
        Assert.Equal((2L, 2), (server.Counts.ConnectionsOpen, server.Server.ConnectionCount));
    }

    [Fact]
    public async Task A_place_is_free_again_after_its_connection()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxConnections = 1);
        using (RawPeer first = await server.ConnectAsync())
        {
            await first.PingAsync();
        }

        await server.CloseReasonAsync();
        using RawPeer second = await server.ConnectAsync();
        await second.PingAsync();
    }

    [Fact]
    public async Task Connections_of_one_address_are_limited_and_their_places_come_free()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxConnectionsPerAddress = 1);
        using (RawPeer first = await server.ConnectAsync())
        {
            await first.PingAsync();
            using RawPeer extra = await server.ConnectAsync();
            await extra.ExpectGoneAsync();
            Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.AddressLimit));
            await Patience.UntilAsync(() => server.Log.WithId(3001).Count != 0, "the rejection was logged");
            Assert.Contains(
                "FastPort:MaxConnectionsPerAddress is 1", Assert.Single(server.Log.WithId(3001)).Text, StringComparison.Ordinal);
        }

        await server.CloseReasonAsync();
        using RawPeer second = await server.ConnectAsync();
        await second.PingAsync();
    }

    [Fact]
    public async Task A_limit_the_process_has_no_descriptors_for_is_warned_about()
    {
        long? descriptors = FastPort.Hosting.DescriptorLimit.Read();

        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxConnections = 1_000_000);

        Assert.Equal(descriptors < 1_000_000 ? 1 : 0, server.Log.WithId(3002).Count);
        Assert.All(
            server.Log.WithId(3002), line => Assert.Contains($"only {descriptors} descriptors", line.Text, StringComparison.Ordinal));
    }
}
