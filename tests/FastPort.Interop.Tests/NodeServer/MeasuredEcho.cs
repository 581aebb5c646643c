using System.Buffers;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>An Echo request in flight that keeps the times of its reply.</summary>
internal sealed class MeasuredEcho : PendingReply
{
    private readonly TaskCompletionSource<MeasuredReply> _reply = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Sends the request.</summary>
    /// <returns>The reply to come.</returns>
    public static Task<MeasuredReply> Send(FastPortClient client, byte[] payload, bool timing)
    {
        var echo = new MeasuredEcho();
        var body = new RawBody(new Echo { Payload = ByteString.CopyFrom(payload) }.ToByteArray());
        SendStatus status = client.Session!.TryRequest(DiagnosticType.Echo, in body, echo, timing, NodeProcess.Limit, out _);
        return status == SendStatus.Queued ? echo._reply.Task : throw new InvalidOperationException($"The request was not sent: {status}.");
    }

    protected override void OnReply(scoped in InboundReply reply) => _reply.SetResult(new MeasuredReply(
        Echo.Parser.ParseFrom(reply.Body.ToArray()).Payload.ToByteArray(), reply.Header, reply.Timing,
        reply.ReceivedNanoseconds - StartedNanoseconds));

    protected override void OnFailed(RequestFailure failure, string message) =>
        _reply.SetException(new InvalidOperationException($"{failure}: {message}"));
}

/// <summary>A reply with what can be computed from it: round trip = server time + network time.</summary>
internal sealed record MeasuredReply(byte[] Payload, FrameHeader Header, FrameTiming Timing, long RoundTrip)
{
    public long NetworkTime => RoundTrip - Timing.ServerNanoseconds;
}
