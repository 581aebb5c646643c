namespace FastPort.Framing;

/// <summary>The flag bits of a frame header (wire protocol, byte 6). Bit 6 must be 0.</summary>
[Flags]
public enum FrameFlags : byte
{
    /// <summary>A request that expects a reply.</summary>
    None = 0,

    /// <summary>The frame answers the request with the same type and correlation.</summary>
    Reply = 1,

    /// <summary>The reply's body is an error. Only with <see cref="Reply"/>.</summary>
    Error = 2,

    /// <summary>No reply is wanted, not even an error.</summary>
    OneWay = 4,

    /// <summary>On a request: asks for a timing block in the reply. On a reply: the frame has a timing block.</summary>
    Timing = 8,

    /// <summary>
    /// On a request or one-way frame: a trace block follows the header. Only where both sides have agreed on it in Hello and Welcome.
    /// </summary>
    Trace = 16,

    /// <summary>
    /// The frame is an item of a stream, or the request that opens a stream of requests. Never with <see cref="OneWay"/> or
    /// <see cref="Error"/>. Only where both sides have agreed on streams in Hello and Welcome.
    /// </summary>
    More = 32,

    /// <summary>
    /// On a request: a deadline block follows the header, behind the trace block if there is one. Only where both sides have agreed on
    /// calls in Hello and Welcome.
    /// </summary>
    Deadline = 128,

    /// <summary>All bits that this version knows.</summary>
    Known = Reply | Error | OneWay | Timing | Trace | More | Deadline,
}
