using FastPort.Framing;
using FastPort.Interop.Tests.Peers;

using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

public sealed class HelloTests
{
    [NodeFact]
    public async Task Welcome_tells_protobufjs_the_session_the_name_the_limit_and_the_heartbeat()
    {
        await using NodeScenario node = await NodeScenario.StartAsync(static o =>
        {
            o.ServerName = "Werk 7 – Süd";
            o.Session.MaxFrameBytes = 300_000;
            o.Session.HeartbeatInterval = TimeSpan.FromMilliseconds(12_345);
        });
        var opened = new TaskCompletionSource<Session>();
        node.Server.SessionOpened += opened.SetResult;

        HelloResult result = await PlayAsync(node, "Hello");

        Session session = await opened.Task.WaitAsync(NodeProcess.Limit);
        Assert.Equal(("pump/ü-3", "Node 日本"), (session.RoutingId, session.ClientName));
        Assert.Equal(new Welcome($"{session.Id}", "Werk 7 – Süd", 300_000, 12_345), result.Welcome);
        Assert.True(session.Id >= 1);
        result.Reply.AssertReply(ControlType.Hello, result.Reply.BodyBytes);
        Assert.Null(result.Reply.Timing);
        result.Ping.AssertReply(ControlType.Ping, 0, FrameFlags.Timing);
        AssertBlock(result.Ping);
    }

    [NodeFact]
    public async Task Hello_of_a_later_version_with_unknown_fields_is_welcome()
    {
        await using NodeScenario node = await NodeScenario.StartAsync();
        var opened = new TaskCompletionSource<Session>();
        node.Server.SessionOpened += opened.SetResult;

        HelloResult result = await PlayAsync(node, "LaterHello");

        Session session = await opened.Task.WaitAsync(NodeProcess.Limit);
        Assert.Equal(("pump/ü-3", "Node 日本"), (session.RoutingId, session.ClientName));
        Assert.Equal($"{session.Id}", result.Welcome.SessionId);
    }

    [NodeFact]
    public async Task Refuses_a_taken_identity_and_welcomes_the_same_session_with_another()
    {
        DuplicateResult result = await NodeScenario.PlayOnceAsync<DuplicateResult>("duplicateIdentity");

        result.Taken.AssertReply(ControlType.Hello, result.Taken.BodyBytes);
        Assert.Contains(
            "machine-é-7", result.Refused.AssertError(ErrorCode.DuplicateIdentity, ControlType.Hello), StringComparison.Ordinal);
        result.Ping.AssertReply(ControlType.Ping, 0);
        Assert.Equal(2, result.SessionIds.Distinct(StringComparer.Ordinal).Count());
    }

    [NodeFact]
    public async Task Heartbeats_are_Pings_that_the_peer_answers()
    {
        // It has the interval to answer in, in real time: more than a busy machine keeps it waiting.
        await using NodeScenario node = await NodeScenario.StartAsync(
            static o => o.Session.HeartbeatInterval = TimeSpan.FromMilliseconds(3000));

        HeartbeatResult result = await node.PlayAsync<HeartbeatResult>("heartbeats", new { count = 2 });

        Assert.Equal(3000u, result.HeartbeatMs);
        Assert.All(
            result.Pings, static ping => Assert.Equal((ControlType.Ping, FrameFlags.None, 0), (ping.Type, ping.Flags, ping.BodyBytes)));
        Assert.All(result.Pings, static ping => Assert.NotEqual(0u, ping.Correlation));
        result.Alive.AssertReply(ControlType.Ping, 0);
        Assert.Equal(0, node.Server.Counters.Snapshot().RepliesToNothing);
    }

    internal static void AssertBlock(PeerFrame frame)
    {
        FrameTiming timing = Assert.NotNull(frame.Timing);
        Assert.True(
            timing.Received > 0 && timing.Sent >= timing.Received, $"The block says received {timing.Received}, sent {timing.Sent}.");
    }

    private static Task<HelloResult> PlayAsync(NodeScenario node, string name) => node.PlayAsync<HelloResult>(
        "hello",
        name == "Hello"
            ? new { name, hello = new { routingId = "pump/ü-3", token = "t", clientName = "Node 日本" } }
            : new
            {
                name,
                hello = new
                {
                    routingId = "pump/ü-3",
                    clientName = "Node 日本",
                    region = 7,
                    load = 0.5,
                    details = new { text = "x", numbers = new { a = -1 } },
                    versions = new[] { 1, 2, 300 },
                    skew = -5,
                },
            });

    private sealed record Welcome(string SessionId, string ServerName, uint MaxFrameBytes, uint HeartbeatMs);

    private sealed record HelloResult(PeerFrame Reply, Welcome Welcome, PeerFrame Ping);

    private sealed record DuplicateResult(PeerFrame Taken, PeerFrame Refused, PeerFrame Ping, string[] SessionIds);

    private sealed record HeartbeatResult(uint HeartbeatMs, PeerFrame[] Pings, PeerFrame Alive);
}
