using System.Buffers.Binary;
using System.Net.Sockets;
using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Requests that are refused.</content>
public sealed partial class TagServerTests
{
    [Fact]
    public async Task A_handle_of_another_session_is_refused()
    {
        TagList tags = await _client.ResolveAsync(["1"]);
        await using FastPortClient stranger = await ConnectAsync();

        byte[] reply = await stranger.RequestAsync(
            TagMessageType.Read, new ReadTags { Handles = { (uint)tags.Infos[0]!.Tag, 0, uint.MaxValue } }.ToByteArray());
        var samples = new TagSamples();

        Assert.True(samples.TryRead(reply, 3));
        Assert.All(Enumerable.Range(0, 3), row => Assert.Equal(TagStatus.BadHandleInvalid, samples.GetStatus(row)));
        Assert.Equal(0, _source.Count);
    }

    [Fact]
    public async Task Lists_that_are_empty_or_too_long_and_malformed_bodies_are_answered()
    {
        Assert.Equal(0, (await _client.ReadAsync(await _client.ResolveAsync([]))).Count);
        Assert.Empty(await _client.WriteAsync(await _client.ResolveAsync([]), new TagSamples()));
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(
            () => _client.ResolveAsync(Enumerable.Range(0, 1001).Select(static i => $"{i}")).AsTask());
        Assert.Equal(ErrorCode.Overloaded, e.Code);
        await using FastPortClient client = await ConnectAsync();
        foreach (ushort type in (ushort[])[0x0200, 0x0201, 0x0202, 0x0203, 0x0204, 0x0207, 0x0208])
        {
            e = await Loopback.FailureAsync(client, type, Loopback.NoMessage);
            Assert.Equal(ErrorCode.MalformedBody, e.Code);
        }
    }

    [Fact]
    public async Task Subscribe_before_Hello_is_forbidden()
    {
        using var socket = new TcpClient();
        Endpoint endpoint = Endpoint.Parse(_bridge.Endpoint);
        await socket.ConnectAsync(endpoint.Host, endpoint.Port);
        var frame = new byte[12];
        BinaryPrimitives.WriteUInt32LittleEndian(frame, 8);
        BinaryPrimitives.WriteUInt16LittleEndian(frame.AsSpan(4), TagMessageType.Subscribe);
        frame[7] = 1;
        frame[8] = 1;
        await socket.GetStream().WriteAsync(frame);
        var reply = new byte[14];
        await socket.GetStream().ReadExactlyAsync(reply).AsTask().WaitAsync(Loopback.Soon);

        // Reply and Error; the body begins with field 1, the code.
        Assert.Equal((3, 8, (int)ErrorCode.Forbidden), (reply[6], reply[12], reply[13]));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_source_that_throws_or_hangs_when_it_is_asked_for_names_costs_only_those_that_no_other_one_has(bool hangs)
    {
        var never = new TaskCompletionSource();
        await using var faulty = new FaultySource
        {
            Resolving = () => hangs ? never.Task : throw new InvalidOperationException("The test says so."),
        };
        var memory = new MemoryTagSource();
        memory.Add("two", 2);
        await using TagBridge bridge = await TagBridge.StartAsync(
            [faulty, memory], new TagServerOptions { SourceTimeout = TimeSpan.FromMilliseconds(200) });
        await using TagClient client = await bridge.ConnectAsync();

        TagList tags = await client.ResolveAsync(["one", "two"]);

        Assert.Equal([hangs ? TagStatus.BadTimeout : TagStatus.BadInternalError, TagStatus.Good], tags.Current.Statuses);
        Assert.Equal(2, (await client.ReadAsync("two")).Value);
    }

    [Fact]
    public async Task Names_are_looked_up_also_while_the_source_is_away()
    {
        var memory = new MemoryTagSource { IsConnected = false };
        memory.Add("tag", 1);
        await using TagBridge bridge = await TagBridge.StartAsync(memory);
        await using TagClient client = await bridge.ConnectAsync();

        Assert.Equal(TagStatus.BadNoCommunication, (await client.ReadAsync("tag")).Status);
        Assert.NotNull((await client.ResolveAsync(["tag"])).Infos[0]);
    }

    [Fact]
    public async Task A_write_while_the_source_is_away_writes_nothing_and_leaves_the_cache_as_it_is()
    {
        var memory = new MemoryTagSource();
        memory.Add("tag", 1, isWritable: true);
        await using TagBridge bridge = await TagBridge.StartAsync(memory);
        await using TagClient client = await bridge.ConnectAsync();
        Assert.Equal(1, (await client.ReadAsync("tag", Hour)).Value);

        memory.IsConnected = false;
        Assert.Equal(TagStatus.BadNoCommunication, await client.WriteAsync("tag", 2));
        memory.IsConnected = true;

        // The cache answers: the source has another value by now.
        memory.Set("tag", 3);
        Assert.Equal(1, (await client.ReadAsync("tag", Hour)).Value);
    }

    [Fact]
    public async Task A_tag_that_is_only_written_is_not_subscribed_to()
    {
        TagList readable = await _client.ResolveAsync(["1"]);
        _source.IsReadable = false;
        TagList tags = await _client.ResolveAsync(["2"]);

        await using TagSubscription refused = await _client.SubscribeAsync(tags);
        await using TagSubscription subscription = await _client.SubscribeAsync(readable);

        Assert.Equal([TagStatus.BadNotReadable], refused.Statuses);
        Assert.Equal([TagStatus.Good], subscription.Statuses);
    }
}
