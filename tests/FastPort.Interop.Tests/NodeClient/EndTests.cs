using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>Goodbye from both sides, and Cancel.</summary>
public sealed class EndTests
{
    private const ushort OwnType = 0x1000;

    [NodeFact]
    public async Task Goodbye_lets_the_requests_before_it_be_answered_and_then_closes()
    {
        GoodbyeResult result = await NodeScenario.PlayOnceAsync<GoodbyeResult>("goodbye", new { count = 200 });

        Assert.Equal(200, result.Right);
        Assert.Empty(result.Unread);
        Assert.Equal(PeerEnd.InOrder, result.End);
    }

    [NodeFact]
    public async Task The_server_says_Goodbye_with_its_reason_and_closes()
    {
        await using NodeScenario node = await NodeScenario.StartAsync(map: static handlers => handlers.MapInline(
            OwnType,
            static (ref InlineRequest request) =>
            {
                _ = request.Session.CloseAsync(ErrorCode.Overloaded, "Zu viel – später wieder.");
            }));

        ServerGoodbyeResult result = await node.PlayAsync<ServerGoodbyeResult>("serverGoodbye", new { type = OwnType });

        Assert.Equal((ControlType.Goodbye, FrameFlags.OneWay, 0u), (result.Frame.Type, result.Frame.Flags, result.Frame.Correlation));
        Assert.Equal(new GoodbyeMessage((uint)ErrorCode.Overloaded, "Zu viel – später wieder."), result.Goodbye);
        Assert.Equal(PeerEnd.InOrder, result.End);
    }

    [NodeFact]
    public async Task Cancel_cancels_the_handlers_token_and_the_request_behind_it_runs()
    {
        var cancelled = new TaskCompletionSource();
        await using NodeScenario node = await NodeScenario.StartAsync(map: handlers => handlers.MapQueued(OwnType, async request =>
        {
            using CancellationTokenRegistration registration = request.Aborted.Register(cancelled.SetResult);
            request.TrySend(OwnType, new FastPort.Framing.RawBody([1, 2, 3]));
            await cancelled.Task;
            request.Aborted.ThrowIfCancellationRequested();
        }));

        CancelResult result = await node.PlayAsync<CancelResult>("cancel", new { type = OwnType });

        Assert.Equal((OwnType, FrameFlags.OneWay, 3), (result.Started.Type, result.Started.Flags, result.Started.BodyBytes));
        result.Behind.AssertReply(DiagnosticType.Source, 0);
        Assert.Empty(result.Unread);
        Assert.True(cancelled.Task.IsCompleted);
    }

    private sealed record GoodbyeResult(int Right, PeerFrame[] Unread, PeerEnd End);

    private sealed record GoodbyeMessage(uint Code, string Reason);

    private sealed record ServerGoodbyeResult(PeerFrame Frame, GoodbyeMessage Goodbye, PeerEnd End);

    private sealed record CancelResult(PeerFrame Started, PeerFrame Behind, PeerFrame[] Unread);
}
