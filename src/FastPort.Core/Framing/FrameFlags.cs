namespace FastPort.Framing;

/// <summary>The flag bits of a frame header (wire protocol, byte 6). Bits 4 to 7 must be 0.</summary>
[Flags]
public enum FrameFlags : byte
{
    /// <summary>A request that wants a reply.</summary>
    None = 0,

    /// <summary>The frame answers the request with the same type and correlation.</summary>
    Reply = 1,

    /// <summary>The reply's body is an error. Only together with <see cref="Reply"/>.</summary>
    Error = 2,

    /// <summary>No reply is wanted, not even an error.</summary>
    OneWay = 4,

    /// <summary>On a request: the reply shall carry a timing block. On a reply: it does.</summary>
    Timing = 8,

    /// <summary>Every bit this version knows.</summary>
    Known = Reply | Error | OneWay | Timing,
}
