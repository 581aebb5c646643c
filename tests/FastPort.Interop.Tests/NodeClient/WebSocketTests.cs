using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>The peer over the WebSockets of npm's ws, whose messages are cut where the peer writes.</summary>
public sealed class WebSocketTests
{
    [NodeTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Echoes_every_size_up_to_the_limit(bool compresses)
    {
        int[] sizes = [0, 1, 100, 125, 126, 65_535, 65_536, 300_000, 1_000_000];
        await using NodeScenario node = await StartAsync(compresses);

        EchoResult result = await node.PlayAsync<EchoResult>("echoSizes", new { sizes });

        Assert.Equal(compresses ? "permessage-deflate" : string.Empty, result.Extensions);
        Assert.Equal(sizes.Select(static size => (size, true)), result.Echoes.Select(static echo => (echo.Size, echo.Equal)));
    }

    [NodeFact]
    public async Task Understands_frames_cut_into_messages_at_every_byte()
    {
        await using NodeScenario node = await StartAsync();

        Assert.Equal(new CutResult(80, 80, 80, 0), await node.PlayAsync<CutResult>("echoCuts"));
    }

    [NodeFact]
    public async Task Answers_each_of_many_pipelined_requests_with_its_own_correlation()
    {
        await using NodeScenario node = await StartAsync();

        Assert.Equal(new RightResult(5000, 0), await node.PlayAsync<RightResult>("echoPipelined", new { count = 5000 }));
    }

    [NodeFact]
    public async Task Requests_before_a_Goodbye_are_answered_and_the_close_code_is_1000()
    {
        await using NodeScenario node = await StartAsync();

        GoodbyeResult result = await node.PlayAsync<GoodbyeResult>("goodbye", new { count = 100 });

        Assert.Equal(1000, result.CloseCode);
    }

    private static Task<NodeScenario> StartAsync(bool compresses = false) => NodeScenario.StartAsync(options =>
    {
        options.Endpoints[0] = "ws://127.0.0.1:0/game";
        options.WebSocket.Compression = compresses;
    });

    private sealed record EchoResult(EchoOfSize[] Echoes, string? Extensions);

    private sealed record EchoOfSize(int Size, bool Equal);

    private sealed record CutResult(int Total, int Played, int Right, int Unread);

    private sealed record RightResult(int Right, int Unread);

    private sealed record GoodbyeResult(int? CloseCode);
}
