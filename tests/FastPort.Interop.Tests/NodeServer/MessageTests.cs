using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Google.Protobuf;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>What the peer sends besides replies: pushes, requests of its own, errors, Goodbye. And our Cancel and Goodbye to it.</summary>
public sealed class MessageTests
{
    [NodeFact]
    public async Task A_one_way_frame_of_the_peer_reaches_its_handler()
    {
        var pushed = new TaskCompletionSource<(bool OneWay, uint Correlation, Echo Message)>();
        MessageHandlers handlers = new MessageHandlers().MapInline(NodePeer.Pushed, (ref InlineRequest request) =>
            pushed.SetResult((request.IsOneWay, request.Correlation, Echo.Parser.ParseFrom(request.Body))));
        using NodePeer node = await NodePeer.StartAsync();
        await using FastPortClient client = await node.ConnectAsync(handlers: handlers);

        await client.SendAsync(NodePeer.PushMe, default(EmptyBody));

        Assert.Equal(
            (true, 0u, new Echo { Payload = ByteString.CopyFromUtf8("pushed by node") }), await pushed.Task.WaitAsync(NodeProcess.Limit));
    }

    [NodeFact]
    public async Task A_request_of_the_peer_is_answered_though_both_sides_use_the_same_correlations()
    {
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(NodePeer.Mirror, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)));
        using NodePeer node = await NodePeer.StartAsync();
        byte[] body = [1, 2, 3, 250];
        await using (FastPortClient client = await node.ConnectAsync(handlers: handlers))
        {
            Assert.Equal(body, await client.RequestAsync(NodePeer.Mirror, body));
            Assert.Equal(body, await client.RequestAsync(NodePeer.Mirror, body));
        }

        PeerReport report = await node.FinishAsync();
        Assert.Equal([1u, 2u], report.Mirrored.Select(static m => m.Frame.Correlation));
        Assert.All(report.Mirrored, mirrored =>
        {
            Assert.True(mirrored.Equal);
            mirrored.Frame.AssertReply(NodePeer.Mirror, body.Length, FrameFlags.Timing);
            NodeClient.HelloTests.AssertBlock(mirrored.Frame);
        });
    }

    [NodeTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_error_reply_is_the_requests_exception_and_the_session_goes_on(bool timing)
    {
        using NodePeer node = await NodePeer.StartAsync();
        await using FastPortClient client = await node.ConnectAsync(o => o.Timing = timing);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(NodePeer.Fail, new byte[3]));

        Assert.Equal((ErrorCode.NotFound, null), (failure.Code, failure.Failure));
        Assert.Contains("There is no tag ‘Höhe’ here.", failure.Message, StringComparison.Ordinal);
        Assert.Equal("on", (await EchoAsync(client, "on")).Payload.ToStringUtf8());
    }

    [NodeFact]
    public async Task A_cancelled_request_sends_Cancel_with_its_correlation()
    {
        using NodePeer node = await NodePeer.StartAsync();
        await using (FastPortClient client = await node.ConnectAsync())
        {
            using var cancel = new CancellationTokenSource();
            Task<byte[]> ignored = client.RequestAsync(NodePeer.Ignore, ReadOnlyMemory<byte>.Empty, cancellationToken: cancel.Token);
            await EchoAsync(client, "behind it");
            await cancel.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => ignored);
            await EchoAsync(client, "behind the Cancel");
        }

        PeerReport report = await node.FinishAsync();

        // Hello was 1, the request next, the first Echo behind it.
        Assert.Equal([report.Echoes[0].Correlation - 1], report.Cancels);
    }

    [NodeFact]
    public async Task The_peers_Goodbye_ends_the_session_with_its_reason_and_requests_go_to_the_next_one()
    {
        var reasons = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        using NodePeer node = await NodePeer.StartAsync(new { goodbyeAfterEcho = true });
        await using (FastPortClient client = node.CreateClient())
        {
            client.Disconnected += (_, reason) => reasons.TrySetResult(reason);
            await client.ConnectAsync();
            await EchoAsync(client, "first");

            CloseReason reason = await reasons.Task.WaitAsync(NodeProcess.Limit);
            Echo second = await EchoAsync(client, "second");

            Assert.Equal((CloseKind.PeerClosed, ErrorCode.ShuttingDown), (reason.Kind, reason.GetErrorCode()));
            Assert.Contains("node is stopping", reason.Message, StringComparison.Ordinal);
            Assert.Equal("second", second.Payload.ToStringUtf8());
        }

        PeerReport report = await node.FinishAsync();
        Assert.Equal((2, 2), (report.Connections, report.Hellos.Length));
        Assert.Equal(PeerEnd.InOrder, report.Ends[0]);
    }

    [NodeFact]
    public async Task A_client_that_closes_says_Goodbye_and_ends_in_order()
    {
        using NodePeer node = await NodePeer.StartAsync();
        FastPortClient client = await node.ConnectAsync();
        await EchoAsync(client, "before the end");

        await client.CloseAsync();

        PeerReport report = await node.FinishAsync();
        Assert.Equal((uint)ErrorCode.None, Assert.Single(report.Goodbyes).Code);
        Assert.Equal(PeerEnd.InOrder, Assert.Single(report.Ends));
    }

    private static Task<Echo> EchoAsync(FastPortClient client, string text) =>
        client.RequestAsync(DiagnosticType.Echo, new Echo { Payload = ByteString.CopyFromUtf8(text) }, Echo.Parser);
}
