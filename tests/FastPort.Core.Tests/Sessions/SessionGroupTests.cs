using System.Runtime.CompilerServices;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions;

public sealed class SessionGroupTests
{
    private const ushort Push = 0x1010;

    [Fact]
    public async Task A_session_that_has_ended_is_no_member_and_becomes_none()
    {
        await using TestServer server = await TestServer.StartAsync();
        var group = new SessionGroup();
        var other = new SessionGroup();
        using RawPeer a = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        var countAtClose = new TaskCompletionSource<int>();
        server.Server.SessionClosed += (_, _) => countAtClose.SetResult(group.Count);
        group.Add(session);
        group.Add(session);
        other.Add(session);
        Assert.True(other.Remove(session));
        Assert.Equal((1, 0), (group.Count, other.Count));

        a.Dispose();
        Assert.Equal(0, await countAtClose.Task.InTimeAsync());
        await server.CloseReasonAsync();

        Assert.Equal(0, group.Count);
        group.Add(session);
        Assert.Equal(0, group.Count);
        Assert.False(group.Remove(session));
        Assert.Equal(0, group.Broadcast(Push, default(EmptyBody)));
    }

    [Theory]
    [InlineData(100)]
    [InlineData(16 * 1024)]
    [InlineData(500_000)]
    public async Task Every_member_gets_every_broadcast_unchanged_though_one_reads_late(int size)
    {
        const int Messages = 10;
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.SendQueueBytes = 16 * 1024 * 1024);
        var group = new SessionGroup();
        RawPeer[] peers = [
            await server.ConnectKnownAsync(), await server.ConnectKnownAsync(), await server.ConnectKnownAsync(receiveBuffer: 8192)];
        await Patience.UntilAsync(() => server.Opened.Count == 3, "all were there");
        foreach (Session session in server.Opened)
        {
            group.Add(session);
        }

        for (int i = 0; i < Messages; i++)
        {
            Assert.Equal(3, group.Broadcast(Push, new SequenceBody(new(Wire.Bytes(size, i)))));
        }

        foreach (RawPeer peer in peers)
        {
            for (int i = 0; i < Messages; i++)
            {
                WireFrame frame = await peer.ReadFrameAsync();
                Assert.Equal((Push, Wire.OneWay), (frame.Type, frame.Flags));
                Assert.True(Wire.Bytes(size, i).AsSpan().SequenceEqual(frame.Body), $"Message {i} is not the one expected.");
            }

            peer.Dispose();
        }
    }

    [Fact]
    public async Task A_large_body_is_held_once_for_all_members()
    {
        const int Members = 20, Size = 1_000_000;
        await using TestServer server = await TestServer.StartAsync(options: static o =>
        {
            o.Session.SendQueueBytes = 4 * Size;
            o.Session.MaxFrameBytes = 2 * Size;
        });
        var group = new SessionGroup();
        List<RawPeer> peers = [];
        for (int i = 0; i < Members; i++)
        {
            peers.Add(await server.ConnectKnownAsync(receiveBuffer: 8192));
            group.Add(await server.SessionAsync(i));
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(Members, group.Broadcast(Push, new SequenceBody(new(new byte[Size]))));
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        // The body that is handed over, one array for all at the most, and what each connection notes of it.
        Assert.InRange(allocated, Size, (3.2 * Size) + (Members * 50_000));
        peers.ForEach(static p => p.Dispose());
    }

    [Fact]
    public async Task A_small_body_is_encoded_once_for_all_members()
    {
        const int Members = 5;
        await using TestServer server = await TestServer.StartAsync();
        var group = new SessionGroup();
        List<RawPeer> peers = [];
        for (int i = 0; i < Members; i++)
        {
            peers.Add(await server.ConnectKnownAsync());
            group.Add(await server.SessionAsync(i));
        }

        var written = new StrongBox<int>();
        Assert.Equal(Members, group.Broadcast(Push, new CountingBody(written)));

        foreach (RawPeer peer in peers)
        {
            Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
            peer.Dispose();
        }

        Assert.Equal(1, written.Value);
    }

    [Fact]
    public async Task A_body_that_throws_leaves_the_group_as_it_was()
    {
        await using TestServer server = await TestServer.StartAsync();
        var group = new SessionGroup();
        using RawPeer a = await server.ConnectKnownAsync();
        group.Add(await server.SessionAsync());

        Assert.Throws<InvalidOperationException>(() => group.Broadcast(Push, default(ThrowingBody)));
        Assert.Throws<ArgumentException>(() => group.Broadcast(Push, default(EndlessBody)));

        Assert.Equal(1, group.Broadcast(Push, default(EmptyBody)));
        Assert.Empty((await a.ReadFrameAsync()).Body);
    }

    // Its one byte is how often it has been written.
    private readonly struct CountingBody(StrongBox<int> written) : IFrameBody
    {
        public int Size => 1;

        public void Write(Span<byte> destination) => destination[0] = (byte)++written.Value;
    }

    private readonly struct ThrowingBody : IFrameBody
    {
        public int Size => 10;

        public void Write(Span<byte> destination) => throw new InvalidOperationException("A defect in a body.");
    }

    private readonly struct EndlessBody : IFrameBody
    {
        public int Size => FrameLimits.Maximum;

        public void Write(Span<byte> destination)
        {
        }
    }
}
