using System.Text;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Google.Protobuf.WellKnownTypes;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>The call extension as a client of another language uses it.</summary>
public sealed class CallTests
{
    private const ushort Left = 0x1000, Fails = 0x1001;

    [NodeTheory]
    [InlineData(8u, "")]
    [InlineData(9u, "0af7651916cd43dd8448eb211c80319cb7ad6b716920333101")]
    public async Task The_time_limit_is_read_and_the_detail_of_an_error_is_sent(uint extensions, string block)
    {
        await using NodeScenario node = await NodeScenario.StartAsync(map: Map);

        CallResult result = await node.PlayAsync<CallResult>(
            "deadline", new { left = Left, fails = Fails, extensions, block, milliseconds = 3_600_000 });

        Assert.Equal((extensions, "pump has time"), (result.Extensions, result.Text));
        Assert.Equal((Left, FrameFlags.Reply), (result.Reply.Type, result.Reply.Flags));
        Assert.Equal(new PeerDetail("type.googleapis.com/google.protobuf.Int32Value", "082a"), result.Detail);
    }

    private static void Map(MessageHandlers handlers) => handlers
        .MapQueued(Left, static context =>
        {
            bool hasTime = context.TimeLeft > TimeSpan.FromSeconds(1) && context.TimeLeft <= TimeSpan.FromHours(1);
            string body = Encoding.UTF8.GetString(context.Body.Span);
            context.Reply(Encoding.UTF8.GetBytes($"{body} {(hasTime ? "has time" : $"has {context.TimeLeft}")}"));
            return ValueTask.CompletedTask;
        })
        .MapQueued(Fails, static _ =>
            throw new RequestRefusedException(ErrorCode.NotFound, "There is none.").WithDetail(new Int32Value { Value = 42 }));

    private sealed record CallResult(uint Extensions, PeerFrame Reply, string Text, PeerDetail? Detail);

    private sealed record PeerDetail(string TypeUrl, string Value);
}
