namespace FastPort;

/// <summary>
/// Why a request failed or a connection was closed (docs/protocol.md, Errors). The numbers are part of the protocol and never change.
/// </summary>
public enum ErrorCode : uint
{
    /// <summary>No error; the code of an ordinary Goodbye.</summary>
    None = 0,

    /// <summary>The frame violates the format; the connection is closed.</summary>
    MalformedFrame = 1,

    /// <summary>The frame's length is above the limit; the connection is closed.</summary>
    FrameTooLarge = 2,

    /// <summary>No handler is registered for the type.</summary>
    UnknownType = 3,

    /// <summary>The body is not a valid message of the type.</summary>
    MalformedBody = 4,

    /// <summary>The peer must send Hello with a valid token first; the connection is closed.</summary>
    Unauthenticated = 5,

    /// <summary>The peer's identity is not authorized for the type.</summary>
    Forbidden = 6,

    /// <summary>A deadline passed.</summary>
    Timeout = 7,

    /// <summary>A rate or size policy refused the request.</summary>
    Overloaded = 8,

    /// <summary>The handler threw; only the log of the answering side has the details.</summary>
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
