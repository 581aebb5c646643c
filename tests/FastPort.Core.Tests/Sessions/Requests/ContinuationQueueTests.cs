using FastPort.Core.Tests.Clients;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Requests;

/// <summary>How the callers of a burst's replies are resumed.</summary>
public sealed class ContinuationQueueTests
{
    private const ushort Type = 0x1000;

    [Fact]
    public async Task A_continuation_that_blocks_holds_up_neither_the_others_of_its_burst_nor_what_it_has_sent()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        using var release = new ManualResetEventSlim();
        var sent = new TaskCompletionSource<Task<byte[]>>(TaskCreationOptions.RunContinuationsAsynchronously);
        Task blocking = BlockAsync();
        Task<byte[]>[] others = [.. Enumerable.Range(0, 16).Select(_ => RequestAsync())];

        await ReplyToAllAsync(peer, 1 + others.Length);

        await Task.WhenAll(others).InTimeAsync();
        Task<byte[]> second = await sent.Task.InTimeAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), 9);
        Assert.Equal([9], await second.InTimeAsync());
        Assert.False(blocking.IsCompleted);
        release.Set();
        await blocking.InTimeAsync();

        async Task BlockAsync()
        {
            await client.RequestAsync(Type, new byte[1]).ConfigureAwait(false);
            sent.SetResult(client.RequestAsync(Type, new byte[1]));
            release.Wait();
        }

        async Task<byte[]> RequestAsync() => await client.RequestAsync(Type, new byte[1]).ConfigureAwait(false);
    }

    [Fact]
    public async Task Callers_of_a_burst_that_all_block_are_all_resumed()
    {
        const int Callers = 4;
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        using var all = new CountdownEvent(Callers);
        Task[] callers = [.. Enumerable.Range(0, Callers).Select(_ => CallAsync())];

        await ReplyToAllAsync(peer, Callers);

        await Task.WhenAll(callers).InTimeAsync();

        // Each waits until every other one was resumed.
        async Task CallAsync()
        {
            await client.RequestAsync(Type, new byte[1]).ConfigureAwait(false);
            all.Signal();
            all.Wait();
        }
    }

    [Fact]
    public async Task A_continuation_does_not_see_the_context_of_another_one()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        var local = new AsyncLocal<int>();
        Task<int>[] callers = [.. Enumerable.Range(1, 8).Select(CallAsync)];

        await ReplyToAllAsync(peer, callers.Length);

        Assert.Equal(Enumerable.Range(1, callers.Length), await Task.WhenAll(callers).InTimeAsync());

        async Task<int> CallAsync(int number)
        {
            // An odd caller has a value before it waits, an even one has none.
            local.Value = number % 2 == 0 ? 0 : number;
            await client.RequestAsync(Type, new byte[1]).ConfigureAwait(false);
            int seen = local.Value;
            local.Value = -1;
            return seen == 0 ? number : seen;
        }
    }

    // In one write, so that the replies are one burst.
    private static async Task ReplyToAllAsync(ScriptedPeer peer, int requests)
    {
        var replies = new MemoryStream();
        for (int i = 0; i < requests; i++)
        {
            ScriptedFrame request = await peer.ReadAsync();
            byte[] reply = new byte[FrameHeader.Size];
            new FrameHeader(
                FrameHeader.MinimumLength, Type, FrameFlags.Reply, FrameHeader.CurrentVersion, request.Header.Correlation).Write(reply);
            replies.Write(reply);
        }

        await peer.WriteRawAsync(replies.ToArray());
    }
}
