namespace FastPort.Framing;

/// <summary>
/// Why a request failed or a connection was closed (docs/protocol.md, Errors). The numbers are on the wire and never change.
/// </summary>
public enum ErrorCode : uint
{
    /// <summary>No error; the code of an ordinary Goodbye.</summary>
    None = 0,

    /// <summary>The frame breaks the format; the connection is closed.</summary>
    MalformedFrame = 1,

    /// <summary>The frame's length is above the limit; the connection is closed.</summary>
    FrameTooLarge = 2,

    /// <summary>No handler is registered for the type.</summary>
    UnknownType = 3,

    /// <summary>The body is no valid message of the type.</summary>
    MalformedBody = 4,

    /// <summary>The peer has to say Hello with a valid token first; the connection is closed.</summary>
    Unauthenticated = 5,

    /// <summary>The peer's identity may not use the type.</summary>
    Forbidden = 6,

    /// <summary>A deadline passed.</summary>
    Timeout = 7,

    /// <summary>A rate or size policy refused the request.</summary>
    Overloaded = 8,

    /// <summary>The handler threw; details are in the answering side's log only.</summary>
    Internal = 9,

    /// <summary>The answering side is stopping; the request was not run.</summary>
    ShuttingDown = 10,

    /// <summary>The routing id belongs to another session.</summary>
    DuplicateIdentity = 11,

    /// <summary>The target does not exist.</summary>
    NotFound = 12,

    /// <summary>The data source is not connected.</summary>
    Unavailable = 13,

    /// <summary>The reply would exceed the frame limit.</summary>
    ReplyTooLarge = 14,
}
