using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>What clients do wrong on a channel: the standard's status in an Error message, then the end; others are not affected.</summary>
public sealed class ChannelFaultTests : IAsyncLifetime
{
    private TestServer _server = null!;
    private OpcUaClient _other = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(configure: static o => o.MaxMessageBytes = 100_000);
        _other = await _server.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        // Still served, whatever the test has done.
        Assert.Single(await _other.ReadAsync([new NodeId(0, 2258)]));
        await _other.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task An_unknown_message_type()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendBytesAsync("GET / HTTP/1.1\r\n\r\n"u8.ToArray());
        Assert.Equal(StatusCodes.BadTcpMessageTypeInvalid, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_second_hello()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        await channel.SendHelloAsync();
        Assert.Equal(StatusCodes.BadTcpMessageTypeInvalid, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_channel_before_hello()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendOpenAsync();
        Assert.Equal(StatusCodes.BadTcpMessageTypeInvalid, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_message_before_the_channel()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        Assert.Equal(StatusCodes.BadTcpMessageTypeInvalid, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task Buffers_below_8192_bytes()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync(bufferSize: 8191);
        Assert.Equal(StatusCodes.BadConnectionRejected, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task An_endpoint_url_of_5000_bytes()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync(url: new string('x', 5000));
        Assert.Equal(StatusCodes.BadTcpEndpointUrlInvalid, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task An_unknown_policy()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        await channel.SendOpenAsync(policy: SecurityPolicy.Prefix + "Basic128Rsa15");
        Assert.Equal(StatusCodes.BadSecurityPolicyRejected, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_mode_that_does_not_go_with_the_policy()
    {
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        await channel.SendOpenAsync(mode: MessageSecurityMode.Sign);
        Assert.Equal(StatusCodes.BadSecurityModeRejected, await channel.ReceiveErrorAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_renewal_without_a_channel_and_an_issue_with_one(bool isOpen)
    {
        using RawChannel channel = isOpen ? await RawChannel.OpenAsync(_server) : await RawChannel.ConnectAsync(_server);
        if (!isOpen)
        {
            await channel.SendHelloAsync();
            await channel.ReceiveAsync();
        }

        await channel.SendOpenAsync(isOpen ? SecurityTokenRequestType.Issue : SecurityTokenRequestType.Renew);
        Assert.Equal(StatusCodes.BadRequestTypeInvalid, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_chunk_larger_than_agreed_on()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        await channel.SendAsync(MessageType.Message, new byte[65_535]);
        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task Another_channel_id()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        channel.ChannelId++;
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        Assert.Equal(StatusCodes.BadTcpSecureChannelUnknown, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task An_unknown_token()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        channel.TokenId += 5;
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        Assert.Equal(StatusCodes.BadSecureChannelTokenUnknown, await channel.ReceiveErrorAsync());
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1)]
    public async Task A_sequence_number_that_is_not_the_next_one(int skip)
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)), skipNumbers: skip);
        Assert.Equal(StatusCodes.BadSecurityChecksFailed, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task Chunks_without_end()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        for (int i = 0; i < 3; i++)
        {
            await channel.SendMessageAsync(new byte[40_000], MessageType.MessagePart);
        }

        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task Empty_chunks_without_end()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        for (int i = 0; i < 1000; i++)
        {
            await channel.SendMessageAsync([], MessageType.MessagePart);
        }

        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_message_that_was_aborted_is_dropped_and_the_channel_goes_on()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        await channel.SendMessageAsync(new byte[40_000], MessageType.MessagePart);
        await channel.SendMessageAsync([0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF], MessageType.MessageAbort);
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        Assert.Equal((GetEndpointsResponse.EncodingId, StatusCodes.Good), await channel.ReceiveResponseAsync());
    }

    [Fact]
    public async Task A_message_in_chunks_of_one_byte()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        byte[] request = RawChannel.Request(default(GetEndpointsRequest));
        foreach (byte b in request[..10])
        {
            await channel.SendMessageAsync([b], MessageType.MessagePart);
        }

        await channel.SendMessageAsync(request[10..]);
        Assert.Equal((GetEndpointsResponse.EncodingId, StatusCodes.Good), await channel.ReceiveResponseAsync());
    }

    [Fact]
    public async Task Requests_that_cannot_be_served_are_faults_and_the_channel_goes_on()
    {
        using RawChannel channel = await RawChannel.OpenAsync(_server);
        await channel.SendMessageAsync(RawChannel.Request(default(ReadRequest)));
        Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadSessionIdInvalid), await channel.ReceiveResponseAsync());
        await channel.SendMessageAsync(RawChannel.Request(default(ReadRequest), new NodeId(0, Guid.NewGuid())));
        Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadSessionIdInvalid), await channel.ReceiveResponseAsync());

        // RegisterServer, and no service at all.
        foreach (byte number in (byte[])[0xB5, 0xFF])
        {
            byte[] unknown = RawChannel.Request(default(ReadRequest));
            (unknown[2], unknown[3]) = (number, 1);
            await channel.SendMessageAsync(unknown);
            Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadServiceUnsupported), await channel.ReceiveResponseAsync());
        }

        await channel.SendMessageAsync([1, 0, 0xFF]);
        Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadDecodingError), await channel.ReceiveResponseAsync());
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest))[..^2]);
        Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadDecodingError), await channel.ReceiveResponseAsync());
        await channel.SendMessageAsync(RawChannel.Request(default(GetEndpointsRequest)));
        Assert.Equal((GetEndpointsResponse.EncodingId, StatusCodes.Good), await channel.ReceiveResponseAsync());
    }
}
