using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <summary>Items that wait for their reader count in the memory budget.</summary>
public sealed class StreamMemoryTests
{
    private const int Megabyte = 1024 * 1024;
    private const int Item = 64 * 1024;
    private const int Few = 4;

    [Fact]
    public async Task A_stream_that_would_exceed_the_budget_ends_and_the_session_lives()
    {
        var read = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await StartAsync(read.Task);
        using RawPeer peer = await OpenAsync(server);
        await peer.SendAsync([.. Enumerable.Repeat(StreamWire.Item(Requests, 7, new byte[Item]), 20)]);

        string message = await peer.ExpectErrorAsync(Requests, 7, StreamWire.Overloaded);
        Assert.Contains("short of memory", message, StringComparison.Ordinal);
        await peer.PingAsync();
        read.SetResult();
        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "all was given back");
    }

    [Fact]
    public async Task Items_count_until_they_are_read()
    {
        var read = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await StartAsync(read.Task);
        using RawPeer peer = await OpenAsync(server);
        await peer.SendAsync([.. Enumerable.Repeat(StreamWire.Item(Requests, 7, new byte[Item]), Few), Wire.PingRequest(8)]);
        Assert.Equal(8u, (await peer.ReadFrameAsync()).Correlation);

        // The receive ring counts too.
        Assert.InRange(server.Server.BufferedBytes, Few * Item, Megabyte);
        read.SetResult();
        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "the items were read");

        // As many again.
        for (int i = 0; i < 40; i++)
        {
            await peer.SendAsync(StreamWire.Item(Requests, 7, new byte[Item]), Wire.PingRequest(8));
            Assert.Equal(8u, (await peer.ReadFrameAsync()).Correlation);
            await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "the item was read");
        }

        await peer.SendAsync(StreamWire.End(Requests, 7));
        await peer.ExpectEndAsync(Requests, 7, BitConverter.GetBytes(Few + 40));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_is_not_read_is_given_back_when_the_stream_is_over(bool cancels)
    {
        var read = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await StartAsync(read.Task);
        using RawPeer peer = await OpenAsync(server);
        await peer.SendAsync([.. Enumerable.Repeat(StreamWire.Item(Requests, 7, new byte[Item]), Few), Wire.PingRequest(8)]);
        Assert.Equal(8u, (await peer.ReadFrameAsync()).Correlation);

        if (cancels)
        {
            await peer.SendAsync(Wire.CancelPost(7));
        }
        else
        {
            peer.Reset();
        }

        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "all was given back");
        read.SetResult();
    }

    // A peer with an open stream of requests.
    private static async Task<RawPeer> OpenAsync(TestServer server)
    {
        RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Requests, 7));
        await peer.ExpectGrantAsync(7);
        return peer;
    }

    // The handler begins to read when the task ends, and answers with the number of items.
    private static Task<TestServer> StartAsync(Task read) => TestServer.StartAsync(
        handlers => handlers.MapRequests(async (requests, _, token) =>
        {
            await read.WaitAsync(token);
            int count = 0;
            await foreach (byte[] item in requests.WithCancellation(token))
            {
                count += item.Length / Item;
            }

            return BitConverter.GetBytes(count);
        }),
        static options =>
        {
            options.MaxBufferedMegabytes = 1;
            options.Session.StreamWindowBytes = 16 * Megabyte;
        });
}
