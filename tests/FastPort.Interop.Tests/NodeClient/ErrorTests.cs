using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

public sealed class ErrorTests
{
    private const ushort UnknownType = 0x7ABC;

    [NodeFact]
    public async Task Errors_of_requests_leave_the_session_open()
    {
        OpenResult result = await NodeScenario.PlayOnceAsync<OpenResult>("openErrors");

        Assert.Contains("0x7ABC", result.UnknownType.AssertError(ErrorCode.UnknownType, UnknownType), StringComparison.Ordinal);
        Assert.Null(result.UnknownType.Timing);
        result.UnknownTypeTimed.AssertError(ErrorCode.UnknownType, UnknownType, FrameFlags.Timing);
        HelloTests.AssertBlock(result.UnknownTypeTimed);
        result.MalformedEcho.AssertError(ErrorCode.MalformedBody, DiagnosticType.Echo);
        result.MalformedSource.AssertError(ErrorCode.MalformedBody, DiagnosticType.Source);
        result.SecondHello.AssertError(ErrorCode.MalformedBody, ControlType.Hello);
        result.Ping.AssertReply(ControlType.Ping, 0);
    }

    [NodeFact]
    public async Task A_malformed_Hello_is_refused_and_a_good_one_behind_it_is_welcome()
    {
        HelloResult result = await NodeScenario.PlayOnceAsync<HelloResult>("malformedHello");

        result.Refused.AssertError(ErrorCode.MalformedBody, ControlType.Hello);
        result.BadText.AssertError(ErrorCode.MalformedBody, ControlType.Hello);
        result.Welcome.AssertReply(ControlType.Hello, result.Welcome.BodyBytes);
    }

    [NodeFact]
    public async Task Errors_of_one_way_messages_are_counted_and_not_answered()
    {
        await using NodeScenario node = await NodeScenario.StartAsync();

        OneWayResult result = await node.PlayAsync<OneWayResult>("oneWayErrors");

        result.Ping.AssertReply(ControlType.Ping, 0);
        Assert.Empty(result.Unread);
        SessionCountersSnapshot counts = node.Server.Counters.Snapshot();
        Assert.Equal(1, counts.OneWayFailuresWith((uint)ErrorCode.UnknownType));
        Assert.Equal(2, counts.OneWayFailuresWith((uint)ErrorCode.MalformedBody));
        Assert.Equal(0, counts.ErrorsSent);
    }

    [NodeTheory]
    [InlineData("length", ErrorCode.MalformedFrame, 0)]
    [InlineData("version", ErrorCode.MalformedFrame, DiagnosticType.Echo)]
    [InlineData("flag", ErrorCode.MalformedFrame, DiagnosticType.Echo)]
    [InlineData("error", ErrorCode.MalformedFrame, DiagnosticType.Echo)]
    [InlineData("correlation", ErrorCode.MalformedFrame, DiagnosticType.Echo)]
    [InlineData("timing", ErrorCode.MalformedFrame, DiagnosticType.Echo)]
    [InlineData("tooLarge", ErrorCode.FrameTooLarge, DiagnosticType.Echo)]
    [InlineData("tooLargeFrom4Bytes", ErrorCode.FrameTooLarge, 0)]
    public async Task A_broken_frame_is_answered_with_correlation_0_and_the_connection_closed_in_order(
        string kind, ErrorCode code, int type)
    {
        FatalResult result = await NodeScenario.PlayOnceAsync<FatalResult>("fatal", new { kind, limit = FrameLimits.Default });

        result.Echo.AssertReply(DiagnosticType.Echo, result.Echo.BodyBytes);
        result.Frame.AssertError(code, (ushort)type);
        Assert.Equal((0u, null, 0), (result.Frame.Correlation, result.Frame.Timing, result.Unread));
        Assert.Equal(PeerEnd.InOrder, result.End);
    }

    [NodeTheory]
    [InlineData(1)]
    [InlineData(4096)]
    [InlineData(1_000_000)]
    public async Task The_error_frame_arrives_before_the_end_whatever_input_is_left_unread(int bytes)
    {
        UnreadResult result = await NodeScenario.PlayOnceAsync<UnreadResult>("fatalWithUnreadInput", new { bytes });

        result.Frame.AssertError(ErrorCode.MalformedFrame, DiagnosticType.Echo);
        Assert.Equal((0, PeerEnd.InOrder), (result.Unread, result.End));
    }

    private sealed record OpenResult(
        PeerFrame UnknownType, PeerFrame UnknownTypeTimed, PeerFrame MalformedEcho, PeerFrame MalformedSource, PeerFrame SecondHello,
        PeerFrame Ping);

    private sealed record HelloResult(PeerFrame Refused, PeerFrame BadText, PeerFrame Welcome);

    private sealed record OneWayResult(PeerFrame Ping, PeerFrame[] Unread);

    private sealed record FatalResult(PeerFrame Echo, PeerFrame Frame, int Unread, PeerEnd End);

    private sealed record UnreadResult(PeerFrame Frame, int Unread, PeerEnd End);
}
