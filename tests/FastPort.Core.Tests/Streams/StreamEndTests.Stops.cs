using FastPort.Sessions.Lifecycle;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <content>Streams that are open when their side stops or closes.</content>
public sealed partial class StreamEndTests
{
    [Fact]
    public async Task A_stopping_server_ends_open_streams_with_ShuttingDown()
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapExchange(_handler.ExchangeForever), static o => o.ShutdownGrace = TimeSpan.FromMilliseconds(100));
        Task<int> reading = CountInOrderAsync(ExchangeAsync(pair.Client, _producer.Forever()));
        await Patience.UntilAsync(() => _handler.Read > 1_000, "items are under way");

        Task stopping = pair.Server.Server.StopAsync();

        Assert.Equal(ErrorCode.ShuttingDown, (await Assert.ThrowsAsync<RequestFailedException>(() => reading.InTimeAsync())).Code);
        await stopping.InTimeAsync();
        await _handler.ExpectAsync(begun: 1, ended: 1);
        await _producer.ExpectAsync(begun: 1, ended: 1);
        Assert.Equal(CloseKind.Stopping, (await pair.Server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_stopping_server_lets_a_stream_end_by_itself_within_the_grace()
    {
        var release = new TaskCompletionSource();
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapReplies((_, _, _) => TwoAsync()), static o => o.ShutdownGrace = o.ShutdownTimeout = Patience.Limit);
        Session session = pair.Server.Server.Sessions.Single();
        var read = new List<byte[]>();
        Task reading = ReadAsync();
        await Patience.UntilAsync(() => read.Count == 1, "the first item has come");

        Task stopping = pair.Server.Server.StopAsync();
        await Patience.UntilAsync(() => session.Protocol.End.State == EndState.Finishing, "the client has answered the Goodbye");
        release.SetResult();

        await reading.InTimeAsync();
        Assert.Equal(2, read.Count);
        await stopping.InTimeAsync();

        async Task ReadAsync()
        {
            await foreach (byte[] item in Stream(pair.Client))
            {
                read.Add(item);
            }
        }

        async IAsyncEnumerable<byte[]> TwoAsync()
        {
            yield return [];
            await release.Task;
            yield return [];
        }
    }

    [Fact]
    public async Task A_stream_is_work_until_its_handler_has_ended()
    {
        var begun = new TaskCompletionSource();
        var release = new TaskCompletionSource();
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapReplies((_, _, _) => IgnoreTokenAsync()));
        Task<int> reading = CountInOrderAsync(Stream(pair.Client));
        await begun.Task.InTimeAsync();

        Session session = pair.Server.Server.Sessions.Single();
        Task<CloseReason> closing = session.CloseAsync();

        Assert.Equal(ErrorCode.ShuttingDown, (await Assert.ThrowsAsync<RequestFailedException>(() => reading.InTimeAsync())).Code);
        await Patience.UntilAsync(() => session.Protocol.End.State == EndState.Finishing, "only work keeps the session open");
        Assert.False(closing.IsCompleted);
        release.SetResult();
        await closing.InTimeAsync();

        async IAsyncEnumerable<byte[]> IgnoreTokenAsync()
        {
            begun.SetResult();
            await release.Task;
            yield return [];
        }
    }

    [Fact]
    public async Task A_client_that_closes_waits_for_its_streams_as_for_its_requests()
    {
        var release = new TaskCompletionSource();
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapReplies((_, _, _) => CountToAsync(release.Task)));
        Task<int> reading = CountInOrderAsync(Stream(pair.Client));
        await Patience.UntilAsync(() => pair.Server.Counts.StreamsOpen == 1, "the stream is open");

        Task closing = pair.Client.CloseAsync();
        release.SetResult();

        Assert.Equal(2_000, await reading.InTimeAsync());
        await closing.InTimeAsync();

        // More than the window: credit and items follow the Goodbye.
        static async IAsyncEnumerable<byte[]> CountToAsync(Task until)
        {
            await until;
            for (int i = 0; i < 2_000; i++)
            {
                yield return BitConverter.GetBytes(i);
            }
        }
    }
}
