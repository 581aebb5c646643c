using System.Net;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

public sealed class SessionTests
{
    [Fact]
    public async Task Sessions_that_nobody_activates_do_not_keep_others_out()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSessions = 3);
        using RawChannel stranger = await RawChannel.OpenAsync(server);
        for (int i = 0; i < 10; i++)
        {
            await stranger.SendMessageAsync(RawChannel.Request(new CreateSessionRequest { RequestedSessionTimeout = 3_600_000 }));
            Assert.Equal(StatusCodes.Good, (await stranger.ReceiveResponseAsync()).Status);
        }

        await using OpcUaClient client = await server.ConnectAsync();
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
        Assert.Equal(3, server.Server.SessionCount);
    }

    /// <summary>Each finds the same oldest session: its place is given away once.</summary>
    [Fact]
    public async Task Sessions_that_are_created_on_several_loops_at_once_are_no_more_than_there_may_be()
    {
        const int Most = 8, Requests = 300;
        await using TestServer server = await TestServer.StartAsync(configure: static o =>
        {
            o.MaxSessions = Most;
            o.Loops = 4;
        });
        RawChannel[] strangers = await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => RawChannel.OpenAsync(server)));
        byte[] request = RawChannel.Request(new CreateSessionRequest { RequestedSessionTimeout = 3_600_000 });

        await Task.WhenAll(strangers.Select(stranger => Task.Run(async () =>
        {
            for (int i = 0; i < Requests; i++)
            {
                await stranger.SendMessageAsync(request);
                Assert.Equal(StatusCodes.Good, (await stranger.ReceiveResponseAsync()).Status);
            }
        })));

        Assert.InRange(server.Server.SessionCount, 1, Most);
        Array.ForEach(strangers, static stranger => stranger.Dispose());
    }

    /// <summary>OPC 10000-4, 5.7.3.1.</summary>
    [Fact]
    public async Task A_session_that_is_used_before_it_is_activated_ends()
    {
        await using TestServer server = await TestServer.StartAsync();
        (RawSession session, _) = await RawSession.CreateAsync(server);
        using RawSession closed = session;

        Assert.Equal(StatusCodes.BadSessionNotActivated, (await session.TryAsync<ReadRequest, ReadResponse>(default)).Status);

        Assert.Equal(0, server.Server.SessionCount);
        Assert.Equal(
            StatusCodes.BadSessionIdInvalid, (await session.TryAsync<ActivateSessionRequest, ActivateSessionResponse>(default)).Status);
        await session.RenewAsync();
        Assert.Equal(1, server.Server.SessionCount);
    }

    [Fact]
    public async Task Endpoints_have_the_url_that_the_client_has_used_if_it_is_one()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        foreach (string used in new[] { "opc.tcp://gateway.example:12345/some/path", "OPC.TCP://plc_1/" })
        {
            Assert.Equal(used, await UrlAsync(used));
        }

        foreach (string? none in new[] { null, string.Empty, "gateway", "http://gateway/", "opc.tcp://" + new string('x', 60_000) })
        {
            Assert.Equal(server.Url, await UrlAsync(none));
        }

        async Task<string?> UrlAsync(string? used)
        {
            EndpointDescription one = Assert.Single(
                (await session.CallAsync<GetEndpointsRequest, GetEndpointsResponse>(new() { EndpointUrl = used })).Endpoints!);
            ApplicationDescription found = Assert.Single(
                (await session.CallAsync<FindServersRequest, FindServersResponse>(new() { EndpointUrl = used })).Servers!);
            Assert.Equal([one.EndpointUrl], one.Server.DiscoveryUrls!);
            Assert.Equal([one.EndpointUrl], found.DiscoveryUrls!);
            return one.EndpointUrl;
        }
    }

    [Fact]
    public async Task A_server_that_listens_on_all_addresses_has_the_one_that_the_client_came_by()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.Endpoints[0] = "opc.tcp://0.0.0.0:0");
        int port = server.Server.Endpoints[0].Port;

        Assert.Equal($"opc.tcp://10.0.0.1:{port}", server.Server.UrlFor(null, new IPEndPoint(IPAddress.Parse("10.0.0.1"), 7)));
        Assert.Equal($"opc.tcp://10.0.0.1:{port}", server.Server.UrlFor(null, new IPEndPoint(IPAddress.Parse("::ffff:10.0.0.1"), 7)));
        Assert.Equal($"opc.tcp://[fd00::1]:{port}", server.Server.UrlFor(null, new IPEndPoint(IPAddress.Parse("fd00::1"), 7)));
    }

    [Fact]
    public async Task Endpoints_of_other_profiles_than_those_asked_for_are_not_told()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        string own = (await EndpointsAsync())[0].TransportProfileUri!;

        Assert.Single(await EndpointsAsync("urn:other", own));
        Assert.Empty(await EndpointsAsync("urn:other"));

        async Task<EndpointDescription[]> EndpointsAsync(params string[] profiles) =>
            (await session.CallAsync<GetEndpointsRequest, GetEndpointsResponse>(new() { ProfileUris = profiles })).Endpoints!;
    }

    [Fact]
    public async Task Sessions_in_use_are_not_given_to_others()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSessions = 1);
        await using OpcUaClient client = await server.ConnectAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync());

        Assert.Equal(StatusCodes.BadTooManySessions, e.Status);
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
    }
}
