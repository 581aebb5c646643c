using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

public sealed class EchoTests
{
    // Length 8 + tag 1 + varint 3 + payload is exactly the default limit of 1 MiB; the reply has the block on top.
    private const int Largest = FrameLimits.Default - 12;

    [NodeFact]
    public async Task Echoes_every_size_up_to_the_limit_with_the_timing_block()
    {
        int[] sizes = [0, 1, 2, 127, 128, 129, 1000, 16_383, 16_384, 65_535, 65_536, 300_000, Largest - 1, Largest];

        EchoResult result = await NodeScenario.PlayOnceAsync<EchoResult>("echoSizes", new { sizes });

        Assert.Equal(sizes, result.Echoes.Select(static e => e.Size));
        Assert.All(result.Echoes, static echo =>
        {
            Assert.True(echo.Equal, $"The echo of {echo.Size} bytes differs.");
            echo.Frame.AssertReply(DiagnosticType.Echo, echo.Frame.BodyBytes, FrameFlags.Timing);
            HelloTests.AssertBlock(echo.Frame);

            // Both clocks are the machine's, and the peer's interval is around the server's.
            Assert.InRange(echo.Frame.Timing!.Value.ServerNanoseconds, 0, long.Parse(echo.RoundTrip));
            Assert.Equal((uint)(8 + FrameTiming.Size + echo.Frame.BodyBytes), echo.Frame.Length);
        });
        Assert.Equal((uint)FrameLimits.Default + FrameTiming.Size, result.Echoes[^1].Frame.Length);
    }

    [NodeFact]
    public async Task Understands_frames_cut_at_every_byte()
    {
        CutResult result = await NodeScenario.PlayOnceAsync<CutResult>("echoCuts");

        Assert.Equal(new CutResult(80, 80, 80, 0), result);
    }

    [NodeFact]
    public async Task Answers_each_of_many_pipelined_requests_with_its_own_correlation()
    {
        RightResult result = await NodeScenario.PlayOnceAsync<RightResult>("echoPipelined", new { count = 5000 });

        Assert.Equal((5000, 0), (result.Right, result.Unread));
    }

    [NodeFact]
    public async Task Answers_what_was_received_before_the_end_of_the_stream()
    {
        EndResult result = await NodeScenario.PlayOnceAsync<EndResult>("echoThenEnd", new { count = 300 });

        Assert.Equal(new EndResult(300, PeerEnd.InOrder), result);
    }

    private sealed record EchoResult(EchoOfSize[] Echoes);

    private sealed record EchoOfSize(int Size, bool Equal, string RoundTrip, PeerFrame Frame);

    private sealed record CutResult(int Total, int Played, int Right, int Unread);

    private sealed record RightResult(int Right, int Unread);

    private sealed record EndResult(int Right, PeerEnd End);
}
