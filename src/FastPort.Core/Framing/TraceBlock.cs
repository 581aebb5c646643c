using System.Diagnostics;
using FastPort.Connections;

namespace FastPort.Framing;

/// <summary>
/// The trace block of a request or one-way frame, right after the header: W3C trace id (16 bytes), parent span id (8), trace flags (1).
/// </summary>
internal static class TraceBlock
{
    /// <summary>Bytes of the block on the wire.</summary>
    public const int Size = 25;

    private const int SpanAt = 16;
    private const int FlagsAt = 24;

    public static void Write(Span<byte> destination, in ActivityContext context)
    {
        // The ids fill the span that they are given.
        context.TraceId.CopyTo(destination[..SpanAt]);
        context.SpanId.CopyTo(destination[SpanAt..FlagsAt]);
        destination[FlagsAt] = (byte)context.TraceFlags;
    }

    /// <summary>
    /// Reads the block of the frame at the head of a ring, where it may wrap. A context that is invalid by W3C's rules counts as none.
    /// </summary>
    public static ActivityContext Read(ArrayPoolCircularBuffer frame)
    {
        Span<byte> block = stackalloc byte[Size];
        frame.CopyTo(FrameHeader.Size, block);
        Span<byte> trace = block[..SpanAt], span = block[SpanAt..FlagsAt];
        if (!trace.ContainsAnyExcept((byte)0) || !span.ContainsAnyExcept((byte)0))
        {
            return default;
        }

        return new ActivityContext(
            ActivityTraceId.CreateFromBytes(trace),
            ActivitySpanId.CreateFromBytes(span),
            (ActivityTraceFlags)block[FlagsAt] & ActivityTraceFlags.Recorded,
            traceState: null,
            isRemote: true);
    }
}

/// <summary>
/// A body with a trace block in front of it. The writer treats it as one body, so that writing frames without a trace costs nothing extra.
/// </summary>
internal readonly ref struct TracedBody<TBody>(in ActivityContext context, scoped in TBody body) : IFrameBody
    where TBody : IFrameBody, allows ref struct
{
    private readonly ActivityContext _context = context;
    private readonly TBody _body = body;

    public int Size { get; } = TraceBlock.Size + body.Size;

    public void Write(Span<byte> destination)
    {
        TraceBlock.Write(destination, _context);
        if (destination.Length > TraceBlock.Size)
        {
            _body.Write(destination[TraceBlock.Size..]);
        }
    }
}
