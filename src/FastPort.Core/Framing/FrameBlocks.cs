namespace FastPort.Framing;

/// <summary>The blocks between header and body that frames to this side may have. They do not count for the frame limit.</summary>
[Flags]
internal enum FrameBlocks
{
    None = 0,

    /// <summary>This side has asked for timing blocks: replies may have one.</summary>
    Timing = 1,

    /// <summary>The trace extension is in force: requests and one-way frames may have a trace block.</summary>
    Trace = 2,
}

/// <summary>The optional parts of the protocol, as the bits of <c>extensions</c> in Hello and Welcome.</summary>
internal static class Extensions
{
    /// <summary>Requests and one-way frames may have a trace block.</summary>
    public const uint Trace = 1;

    /// <summary>All that this version knows.</summary>
    public const uint Known = Trace;
}
