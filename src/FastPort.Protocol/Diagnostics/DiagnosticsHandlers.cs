using FastPort.Framing;
using FastPort.Protocol.Diagnostics;
using FastPort.Protocol.Handlers;

namespace FastPort.Protocol;

/// <summary>Echo, Sink, SinkReport and Source: for load tests and for checks whether a server works. Not registered by default.</summary>
public static class DiagnosticsHandlers
{
    // Large enough for an efficient system call, small enough to stay in the processor's cache until that call.
    private const int BatchBytes = 32 * 1024;

    /// <summary>Registers the four diagnostics types.</summary>
    /// <param name="handlers">The table.</param>
    public static MessageHandlers MapDiagnostics(this MessageHandlers handlers)
    {
        ArgumentNullException.ThrowIfNull(handlers);
        return handlers
            .MapInline(DiagnosticType.Echo, Echo.Parser, static (echo, _) => echo, BytesFields.Borrowed)
            .MapInline(DiagnosticType.Sink, CountSink, "Sink")
            .MapInline(DiagnosticType.SinkReport, ReportSink, "SinkReport")
            .MapQueued(DiagnosticType.Source, StreamSourceAsync, "Source");
    }

    private static void CountSink(ref InlineRequest request) => SinkCount.Of(request.Session).Add(request.BodySize);

    private static void ReportSink(ref InlineRequest request)
    {
        var count = SinkCount.Of(request.Session);
        request.Reply(new ProtobufBody(new SinkReport { Messages = count.Messages, Bytes = count.Bytes }));
    }

    private static async ValueTask StreamSourceAsync(RequestContext context)
    {
        Source source;
        try
        {
            source = Source.Parser.ParseFrom(context.Body.Span);
        }
        catch (Google.Protobuf.InvalidProtocolBufferException e)
        {
            context.Fail(ErrorCode.MalformedBody, MalformedBody.Describe("The body of message 0x0103", nameof(Source), e));
            return;
        }

        int largest = context.Session.MaxBodyBytes;
        if (source.PayloadBytes > (uint)largest)
        {
            context.Fail(ErrorCode.MalformedBody, $"payload_bytes is {source.PayloadBytes}; allowed: 0 to {largest}.");
            return;
        }

        var body = new ZeroBody((int)source.PayloadBytes);
        ulong left = source.Messages;
        while (true)
        {
            context.Aborted.ThrowIfCancellationRequested();

            // Wait for room first, also under the policy that drops: while another thread sends, a batch is accepted however many bytes
            // wait.
            await context.Session.WhenWritableAsync(context.Aborted).ConfigureAwait(false);
            switch (SendSome(context, body, ref left))
            {
                case SendStatus.Queued when left == 0:
                    return;
                case SendStatus.Queued:
                    // Other sessions share the pool's threads.
                    await Task.Yield();
                    break;
                case SendStatus.Full or SendStatus.Dropped:
                    break;
                default:
                    return;
            }
        }
    }

    private static SendStatus SendSome(RequestContext context, ZeroBody body, ref ulong left)
    {
        using SendBatch batch = context.BeginBatch();
        for (int room = BatchBytes; room > 0 && left != 0; room -= FrameHeader.Size + body.Size)
        {
            SendStatus status = batch.TrySend(DiagnosticType.Sink, in body);
            if (status != SendStatus.Queued)
            {
                return status;
            }

            left--;
        }

        return SendStatus.Queued;
    }

    private readonly struct ZeroBody(int size) : IFrameBody
    {
        public int Size => size;

        public void Write(Span<byte> destination) => destination.Clear();
    }
}
