using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions;

public sealed class FlushGroupTests
{
    [Fact]
    public async Task What_a_thread_sends_to_many_sessions_is_flushed_when_the_group_ends()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer a = await server.ConnectKnownAsync();
        using RawPeer b = await server.ConnectKnownAsync();
        long before = server.Opened.Sum(static one => one.Connection.BytesSent);
        SendStatus[] sent = new SendStatus[6];
        using (FlushGroup.Begin())
        {
            for (int i = 0; i < sent.Length; i++)
            {
                sent[i] = server.Opened[i % 2].TrySend(0x1000, [(byte)i]);
            }

            // Nothing has gone to the kernel yet.
            Assert.Equal(before, server.Opened.Sum(static one => one.Connection.BytesSent));
        }

        Assert.All(sent, static one => Assert.Equal(SendStatus.Queued, one));
        for (int i = 0; i < sent.Length; i++)
        {
            Assert.Equal([(byte)i], (await (i % 2 == 0 ? a : b).ReadFrameAsync()).Body);
        }
    }

    [Fact]
    public async Task Groups_of_several_threads_to_one_session_lose_nothing()
    {
        const int Threads = 4;
        const int Each = 500;
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        Task[] senders = [.. Enumerable.Range(0, Threads).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                using (FlushGroup.Begin())
                {
                    session.TrySend(0x1000, [1]);
                    session.TrySend(0x1000, [2]);
                }
            }
        }))];
        for (int i = 0; i < Threads * Each * 2; i++)
        {
            await peer.ReadFrameAsync();
        }

        await Task.WhenAll(senders).InTimeAsync();
    }

    [Fact]
    public void Groups_do_not_nest_and_end_once()
    {
        FlushGroup group = FlushGroup.Begin();
        bool nested = false;
        try
        {
            FlushGroup.Begin();
            nested = true;
        }
        catch (InvalidOperationException)
        {
            // As documented.
        }

        group.Dispose();
        bool twice = false;
        try
        {
            group.Dispose();
            twice = true;
        }
        catch (InvalidOperationException)
        {
            // As documented.
        }

        Assert.False(nested || twice);
    }
}
