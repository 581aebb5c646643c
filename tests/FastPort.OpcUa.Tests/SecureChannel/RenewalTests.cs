using System.Net;
using System.Net.Sockets;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>Tokens on both sides: which may be used when, and which are sent with (OPC 10000-4, 5.5.2).</summary>
public sealed class RenewalTests
{
    private const uint Lifetime = 60_000;

    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task The_server_goes_on_with_the_old_token_over_any_renewals_until_the_client_uses_a_new_one()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawChannel channel = await RawChannel.OpenAsync(server);
        uint first = channel.TokenId;
        uint second = await RenewAsync(channel);
        uint third = await RenewAsync(channel);
        Assert.Equal(3, new HashSet<uint> { first, second, third }.Count);

        Assert.Equal(first, await AskAsync(channel, first));
        Assert.Equal(second, await AskAsync(channel, second));
        Assert.Equal(third, await AskAsync(channel, third));

        channel.TokenId = second;
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        Assert.Equal(StatusCodes.BadSecureChannelTokenUnknown, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_client_that_renews_often_and_uses_none_of_the_tokens_keeps_the_first_and_the_last()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawChannel channel = await RawChannel.OpenAsync(server);
        uint first = channel.TokenId, last = 0;
        for (int i = 0; i < 50; i++)
        {
            last = await RenewAsync(channel);
        }

        Assert.Equal(first, await AskAsync(channel, first));
        Assert.Equal(last, await AskAsync(channel, last));
    }

    [Fact]
    public async Task An_old_token_ends_a_quarter_after_its_life_and_the_server_sends_with_the_new_one()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        using RawChannel channel = await RawChannel.OpenAsync(server);
        uint first = channel.TokenId;
        _time.Advance(TimeSpan.FromSeconds(50));
        uint second = await RenewAsync(channel);
        _time.Advance(TimeSpan.FromSeconds(24));
        Assert.Equal(first, await AskAsync(channel, first));

        // The tick that ends it is the clock's, so the answers change their token at some time.
        _time.Advance(TimeSpan.FromSeconds(2));
        channel.TokenId = first;
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        (uint type, byte[] chunk) = await channel.ReceiveAsync();
        while (type == MessageType.Message)
        {
            Assert.Equal(first, TokenOf(chunk));
            _time.Advance(TimeSpan.FromMilliseconds(100));
            await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
            (type, chunk) = await channel.ReceiveAsync();
        }

        Assert.Equal(MessageType.Error, type);
        Assert.NotEqual(first, second);
    }

    [Fact]
    public async Task A_channel_whose_last_token_has_expired_ends()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        using RawChannel channel = await RawChannel.OpenAsync(server);
        Assert.Equal(channel.TokenId, await AskAsync(channel, channel.TokenId));
        Task<StatusCode> error = channel.ReceiveErrorAsync();

        // The clock may not have seen the token yet when its time is over.
        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(10));
                return error.IsCompleted;
            },
            "the channel ended");

        Assert.Equal(StatusCodes.BadSecureChannelTokenUnknown, await error);
    }

    [Fact]
    public async Task The_client_renews_in_time_accepts_old_tokens_until_the_server_is_done_with_them_and_sends_with_the_new_one()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task<RawChannel> accepting = AcceptAsync(listener, Lifetime);
        await using ChannelClient client = await ChannelClient.ConnectAsync($"opc.tcp://{listener.LocalEndpoint}", time: _time);
        ClientChannel channel = client.Channel;
        using RawChannel server = await accepting;
        await channel.Opened.InTimeAsync();
        Task<StatusCode> asked = client.AskAsync();
        uint requestId = BitConverter.ToUInt32((await server.ReceiveAsync()).Chunk, 20);

        // Twice within the life of the first token, and the client uses neither of the others.
        _time.Advance(TimeSpan.FromSeconds(46));
        server.TokenId = 2;
        await server.AnswerOpenAsync(lifetime: 10_000);
        await Patience.UntilAsync(() => channel.Tokens.Newest!.Id == 2, "the client knew the token");
        _time.Advance(TimeSpan.FromSeconds(8));
        server.TokenId = 3;
        await server.AnswerOpenAsync(Lifetime);

        server.TokenId = 1;
        await server.SendMessageAsync(RawChannel.Response(new GetEndpointsResponse { Endpoints = [] }), requestId: requestId);
        Assert.Equal(StatusCodes.Good, await asked.InTimeAsync());

        await Patience.UntilAsync(() => channel.Tokens.Newest!.Id == 3, "the client knew the token");
        asked = client.AskAsync();
        (_, byte[] chunk) = await server.ReceiveAsync();
        Assert.Equal(3u, TokenOf(chunk));
        server.TokenId = 3;
        await server.SendMessageAsync(
            RawChannel.Response(new GetEndpointsResponse { Endpoints = [] }), requestId: BitConverter.ToUInt32(chunk, 20));
        Assert.Equal(StatusCodes.Good, await asked.InTimeAsync());
        Assert.Equal(3u, channel.Tokens.Oldest!.Id);

        // The server must not go back.
        asked = client.AskAsync();
        server.TokenId = 2;
        await server.SendMessageAsync(RawChannel.Response(new GetEndpointsResponse { Endpoints = [] }));
        Assert.Equal(StatusCodes.BadSecureChannelTokenUnknown, await asked.InTimeAsync());
        server.Dispose();
        await client.Connection.Closed.InTimeAsync();
    }

    [Fact]
    public async Task The_client_renews_after_the_life_that_it_asked_for_whatever_the_server_grants()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task<RawChannel> accepting = AcceptAsync(listener, uint.MaxValue);
        await using ChannelClient client = await ChannelClient.ConnectAsync($"opc.tcp://{listener.LocalEndpoint}", time: _time);
        using RawChannel server = await accepting;
        await client.Channel.Opened.InTimeAsync();

        _time.Advance(TimeSpan.FromSeconds(46));
        server.TokenId = 2;
        await server.AnswerOpenAsync(uint.MaxValue);
        await Patience.UntilAsync(() => client.Channel.Tokens.Newest!.Id == 2, "the client knew the token");

        // The next request is not answered.
        _time.Advance(TimeSpan.FromSeconds(46));
        Assert.Equal(MessageType.Open, (await server.ReceiveAsync()).Type);
        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                return client.Connection.IsClosing;
            },
            "the client gave up the channel");
        Assert.Equal(StatusCodes.BadSecureChannelTokenUnknown, await client.AskAsync());
    }

    [Theory]
    [InlineData(OpcUaSecurityPolicy.None)]
    [InlineData(OpcUaSecurityPolicy.Basic256Sha256)]
    public async Task Tokens_are_renewed_while_requests_are_in_flight(OpcUaSecurityPolicy policy)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        try
        {
            await using TestServer server = await TestServer.StartAsync(configure: o =>
            {
                o.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
                o.Certificates.Directory = folder;
                o.Certificates.UnsafeTrustAll = true;
            });
            DateTimeOffset now = TimeProvider.System.GetUtcNow();
            using ApplicationCertificate own = ApplicationCertificate.Create("urn:test:client", "client", [], now);
            ChannelCredentials? credentials = policy == OpcUaSecurityPolicy.None ? null : ChannelClient.Credentials(server, own);
            await using ChannelClient client = await ChannelClient.ConnectAsync(server.Url, credentials, _time);
            ClientChannel channel = client.Channel;
            await channel.Opened.InTimeAsync();
            uint first = channel.Tokens.Newest!.Id;

            var renewing = new CancellationTokenSource();
            Task[] asking = [.. Enumerable.Range(0, 4).Select(one => Task.Run(async () =>
            {
                while (!renewing.IsCancellationRequested)
                {
                    Assert.Equal(StatusCodes.Good, await client.AskAsync());
                }
            }))];
            for (uint i = 1; i <= 20; i++)
            {
                _time.Advance(TimeSpan.FromSeconds(46));
                await Patience.UntilAsync(
                    () => channel.Tokens.Oldest?.Id >= first + i || client.Connection.IsClosing,
                    "the token was renewed, and both sides use it");
            }

            await renewing.CancelAsync();
            await Task.WhenAll(asking).InTimeAsync();
            Assert.False(client.Connection.IsClosing);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <summary>OPC 10000-4, 6.1.7: certificates are checked at each renewal.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_peer_that_is_trusted_no_more_does_not_get_another_token(bool isClient)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        try
        {
            // Each side has folders of its own: application certificate is trusted.
            string checking = Path.Combine(folder, isClient ? "server" : "client");
            string trusted = Directory.CreateDirectory(Path.Combine(checking, "trusted")).FullName;
            DateTimeOffset now = TimeProvider.System.GetUtcNow();
            using ApplicationCertificate own = ApplicationCertificate.Create("urn:test:client", "client", [], now);
            await using TestServer server = await TestServer.StartAsync(configure: o =>
            {
                o.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
                o.Certificates.Directory = Path.Combine(folder, "server");
                o.Certificates.UnsafeTrustAll = !isClient;
            });
            byte[] peer = isClient ? own.Der : server.Server.Certificates!.Own.Der;
            string file = Path.Combine(trusted, "peer.der");
            await File.WriteAllBytesAsync(file, peer, TestContext.Current.CancellationToken);
            var store = new CertificateStore(
                new OpcUaCertificateOptions { Directory = checking }, TimeProvider.System, NullLogger.Instance);
            var credentials = new ChannelCredentials(
                SecurityPolicy.Basic256Sha256,
                own,
                CertificateStore.TryReadLeaf(server.Server.Certificates!.Own.Der)!,
                isClient ? null : one => store.Validate(one, applicationUri: null));
            await using ChannelClient client = await ChannelClient.ConnectAsync(server.Url, credentials, _time);
            ClientChannel channel = client.Channel;
            await channel.Opened.InTimeAsync();
            uint first = channel.Tokens.Newest!.Id;
            _time.Advance(TimeSpan.FromSeconds(46));
            await Patience.UntilAsync(() => channel.Tokens.Newest!.Id > first, "the token was renewed");
            Assert.Equal(StatusCodes.Good, await client.AskAsync());

            File.Delete(file);
            _time.Advance(TimeSpan.FromSeconds(46));

            await client.Connection.Closed.InTimeAsync();
            Assert.Equal(isClient ? StatusCodes.BadSecurityChecksFailed : StatusCodes.BadCertificateUntrusted, await client.AskAsync());
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    // A server that has opened channel 7 with token 1.
    private static async Task<RawChannel> AcceptAsync(TcpListener listener, uint lifetime)
    {
        RawChannel server = await RawChannel.AcceptAsync(listener);
        Assert.Equal(MessageType.Hello, (await server.ReceiveAsync()).Type);
        await server.SendAsync(MessageType.Acknowledge, RawChannel.Encode(
            new AcknowledgeMessage { ReceiveBufferSize = 65_535, SendBufferSize = 65_535 }));
        (server.ChannelId, server.TokenId) = (7, 1);
        await server.AnswerOpenAsync(lifetime);
        return server;
    }

    private static uint TokenOf(byte[] chunk) => BitConverter.ToUInt32(chunk, 12);

    private static async Task<uint> RenewAsync(RawChannel channel)
    {
        await channel.SendOpenAsync(SecurityTokenRequestType.Renew);
        (uint channelId, uint tokenId) = await channel.ReceiveTokenAsync();
        Assert.Equal(channel.ChannelId, channelId);
        return tokenId;
    }

    // Returns the token that the answer came with.
    private static async Task<uint> AskAsync(RawChannel channel, uint token)
    {
        channel.TokenId = token;
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        (uint type, byte[] chunk) = await channel.ReceiveAsync();
        Assert.Equal(MessageType.Message, type);
        return TokenOf(chunk);
    }
}
