namespace FastPort.Framing;

/// <summary>
/// What frames to this side may have beyond the plain ones: blocks between header and body, which do not count for the frame limit, and
/// the flag More.
/// </summary>
[Flags]
internal enum FrameBlocks
{
    None = 0,

    /// <summary>This side has asked for timing blocks: replies may have one.</summary>
    Timing = 1,

    /// <summary>The trace extension is in force: requests and one-way frames may have a trace block.</summary>
    Trace = 2,

    /// <summary>No block: the stream extension is in force, and frames may have the flag More.</summary>
    More = 4,

    /// <summary>The call extension is in force: requests may have a deadline block.</summary>
    Deadline = 8,
}

/// <summary>The optional parts of the protocol, as the bits of <c>extensions</c> in Hello and Welcome.</summary>
internal static class Extensions
{
    /// <summary>Requests and one-way frames may have a trace block.</summary>
    public const uint Trace = 1;

    /// <summary>Calls may stream: the flag More, and the control message Credit.</summary>
    public const uint Streams = 2;

    /// <summary>Requests may have a deadline block, and errors a detail.</summary>
    public const uint Calls = 8;

    /// <summary>All that this version knows.</summary>
    public const uint Known = Trace | Streams | Calls;
}
