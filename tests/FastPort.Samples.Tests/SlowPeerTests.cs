using System.Net.Sockets;
using FastPort.Framing;
using FastPort.Samples.Tests.Snippets;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What docs/sessions.md says of a peer that stops reading.</summary>
public sealed class SlowPeerTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);
    private static readonly byte[] Update = new byte[8 * 1024];

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait, SendStatus.Full, CloseKind.WriteTimeout)]
    [InlineData(SendQueueFullPolicy.DropOneWay, SendStatus.Dropped, CloseKind.WriteTimeout)]
    [InlineData(SendQueueFullPolicy.Disconnect, SendStatus.Closed, CloseKind.SlowConsumer)]
    public async Task The_sender_is_told_and_the_session_ends(SendQueueFullPolicy whenFull, SendStatus told, CloseKind kind)
    {
        var closed = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using FastPortServer server = SlowPeerSnippets.Feed(whenFull, (_, reason) => closed.SetResult(reason));
        (Session session, TcpClient peer) = await ConnectAsync(server);
        using TcpClient reading = peer;

        Assert.Equal(told, SlowPeerSnippets.SendUntilRefused(session, Update));

        // The system's buffers grow, and take more than once what has filled the queue.
        while (!closed.Task.IsCompleted)
        {
            await session.WhenWritableAsync().WaitAsync(Soon);
            SlowPeerSnippets.SendUntilRefused(session, Update);
        }

        Assert.Equal(kind, (await closed.Task.WaitAsync(Soon)).Kind);
        SessionCountersSnapshot counts = server.Counters.Snapshot();
        Assert.Equal(whenFull == SendQueueFullPolicy.DropOneWay, counts.FramesDropped != 0);
        Assert.Equal(kind == CloseKind.WriteTimeout ? 1 : 0, counts.TimeoutsClosedBy(ConnectionTimeout.Write));
        Assert.Equal(SendStatus.Closed, session.TrySend(0x1010, Update));
    }

    [Fact]
    public async Task Who_waits_for_room_is_told_of_the_end()
    {
        await using FastPortServer server = SlowPeerSnippets.Feed(SendQueueFullPolicy.Wait, static (_, _) => { });
        (Session session, TcpClient peer) = await ConnectAsync(server);
        using TcpClient reading = peer;
        SendStatus status;
        do
        {
            status = await session.TrySendAsync(0x1010, Update).AsTask().WaitAsync(Soon);
        }
        while (status == SendStatus.Queued);

        Assert.Equal(SendStatus.Closed, status);
        await Assert.ThrowsAsync<SendFailedException>(() => session.SendAsync(0x1010, Update).AsTask());
    }

    // A peer that says Hello and reads nothing.
    private static async Task<(Session Session, TcpClient Peer)> ConnectAsync(FastPortServer server)
    {
        var known = new TaskCompletionSource<Session>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.SessionIdentified += known.SetResult;
        await server.StartAsync();
        var peer = new TcpClient { ReceiveBufferSize = 4096 };
        await peer.ConnectAsync("127.0.0.1", server.Endpoints[0].Port);
        byte[] hello = new byte[FrameHeader.Size];
        new FrameHeader(8, ControlType.Hello, FrameFlags.None, FrameHeader.CurrentVersion, 1).Write(hello);
        await peer.GetStream().WriteAsync(hello);
        return (await known.Task.WaitAsync(Soon), peer);
    }
}
