using System.Runtime.CompilerServices;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Protocol.Handlers;
using FastPort.Sessions;

namespace FastPort.Protocol.Diagnostics;

/// <summary>Echo, Sink, SinkReport and Source: for load tests and for finding out whether a server is well. Off unless registered.</summary>
public static class DiagnosticsHandlers
{
    // Kept beside the session, so that its State stays the application's.
    private static readonly ConditionalWeakTable<Session, SinkCount> Counts = [];

    /// <summary>Registers the four diagnostics types.</summary>
    /// <param name="handlers">The table.</param>
    public static MessageHandlers MapDiagnostics(this MessageHandlers handlers)
    {
        ArgumentNullException.ThrowIfNull(handlers);
        return handlers
            .MapInline(DiagnosticType.Echo, Echo.Parser, static (echo, _) => new Echo { Payload = echo.Payload })
            .MapInline(DiagnosticType.Sink, CountSink, "Sink")
            .MapInline(DiagnosticType.SinkReport, ReportSink, "SinkReport")
            .MapQueued(DiagnosticType.Source, StreamSourceAsync, "Source");
    }

    private static void CountSink(ref InlineRequest request)
    {
        SinkCount count = Counts.GetOrCreateValue(request.Session);
        count.Messages++;
        count.Bytes += (ulong)request.Body.Length;
    }

    private static void ReportSink(ref InlineRequest request)
    {
        SinkCount count = Counts.GetOrCreateValue(request.Session);
        request.Reply(new ProtobufBody(new SinkReport { Messages = count.Messages, Bytes = count.Bytes }));
    }

    private static async ValueTask StreamSourceAsync(RequestContext context)
    {
        Source source;
        try
        {
            source = Source.Parser.ParseFrom(context.Body.Span);
        }
        catch (Google.Protobuf.InvalidProtocolBufferException)
        {
            context.Fail(ErrorCode.MalformedBody, "The body of message 0x0103 is no Source message.");
            return;
        }

        int largest = context.Session.LargestBody;
        if (source.PayloadBytes > (uint)largest)
        {
            context.Fail(ErrorCode.MalformedBody, $"payload_bytes is {source.PayloadBytes}; allowed are 0 to {largest}.");
            return;
        }

        var body = new ZeroBody((int)source.PayloadBytes);
        for (ulong i = 0; i < source.Messages;)
        {
            context.Aborted.ThrowIfCancellationRequested();
            SendStatus status = await context.Session.SendAsync(DiagnosticType.Sink, body, context.Aborted).ConfigureAwait(false);
            switch (status)
            {
                case SendStatus.Queued:
                    i++;
                    break;
                case SendStatus.Dropped:
                    // Under the policy that drops: what was asked for is sent all the same, when there is room.
                    await context.Session.WhenWritableAsync(context.Aborted).ConfigureAwait(false);
                    break;
                default:
                    return;
            }
        }
    }

    // Written by inline handlers only, of which one runs at a time for a session.
    private sealed class SinkCount
    {
        public ulong Messages { get; set; }

        public ulong Bytes { get; set; }
    }

    private readonly struct ZeroBody(int size) : IFrameBody
    {
        public int Size => size;

        public void Write(Span<byte> destination) => destination.Clear();
    }
}
