using System.Buffers.Binary;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

public sealed class ConcurrentWritersTests
{
    [Fact]
    public async Task Replies_of_the_loop_and_messages_of_other_threads_at_the_same_time_are_all_sent_in_their_orders_and_counted()
    {
        const int Requests = 20_000;
        const int Writers = 2;
        const int Each = 10_000;
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        Task[] writing = [.. Enumerable.Range(0, Writers).Select(w => Task.Run(async () =>
        {
            CancellationToken token = Patience.Token;
            for (int i = 0; i < Each; i++)
            {
                Assert.Equal(SendStatus.Queued, await session.TrySendAsync((ushort)(0x2000 + w), Number(i), token));
            }
        }))];
        Task requesting = Task.Run(async () =>
        {
            for (int i = 0; i < Requests; i += 50)
            {
                await peer.SendAsync(
                    [.. Enumerable.Range(i, 50).Select(static n => Wire.Request(TestServer.Echo, (uint)n + 1, Number(n)))]);
            }
        });
        int replies = 0;
        int[] messages = new int[Writers];
        while (replies + messages.Sum() < Requests + (Writers * Each))
        {
            WireFrame frame = await peer.ReadFrameAsync();
            ref int expected = ref frame.Type == TestServer.Echo ? ref replies : ref messages[frame.Type - 0x2000];
            Assert.Equal(expected, BinaryPrimitives.ReadInt32LittleEndian(frame.Body));
            expected++;
        }

        await Task.WhenAll([requesting, .. writing]);

        // The Welcome was one more.
        Assert.Equal(1 + Requests + (Writers * Each), session.MessagesSent);
        await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent and booked");
    }

    [LinuxTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task On_event_loops_a_write_of_the_loop_and_one_of_another_thread_may_overlap(bool loopBegins)
    {
        Session session = null!;
        using var inside = new ManualResetEventSlim();
        using var done = new ManualResetEventSlim();
        void Within()
        {
            inside.Set();
            Assert.True(done.Wait(Patience.Limit));
        }

        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(0x1001, (ref InlineRequest r) =>
            {
                r.Reply(new CallingBody(1, loopBegins ? Within : static () => { }));
                if (!loopBegins)
                {
                    done.Set();
                }
            }),
            static o => o.Transport = TransportKind.Epoll);
        using RawPeer peer = await server.ConnectKnownAsync();
        session = await server.SessionAsync();
        Task<SendStatus> sending = Task.Run(() =>
        {
            if (!loopBegins)
            {
                return session.TrySend(0x2000, new CallingBody(2, Within));
            }

            Assert.True(inside.Wait(Patience.Limit));
            SendStatus status = session.TrySend(0x2000, new CallingBody(2, static () => { }));
            done.Set();
            return status;
        });
        Assert.True(loopBegins || inside.Wait(Patience.Limit));

        await peer.SendAsync(Wire.Request(0x1001, 1));
        WireFrame[] frames = [await peer.ReadFrameAsync(), await peer.ReadFrameAsync()];
        await peer.SendAsync(Wire.Request(TestServer.Echo, 2, [3]));

        Assert.Equal(SendStatus.Queued, await sending.InTimeAsync());
        Assert.Equal([(0x1001, 1), (0x2000, 2)], frames.Select(static f => ((int)f.Type, (int)Assert.Single(f.Body))).Order());
        Assert.Equal([3], (await peer.ReadFrameAsync()).Body);
        Assert.Equal(4, session.MessagesSent);
        await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent and booked");
    }

    private readonly struct CallingBody(byte value, Action call) : IFrameBody
    {
        public int Size => 1;

        public void Write(Span<byte> destination)
        {
            call();
            destination[0] = value;
        }
    }

    private static byte[] Number(int value)
    {
        byte[] bytes = new byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, value);
        return bytes;
    }
}
