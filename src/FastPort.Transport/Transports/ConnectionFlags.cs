namespace FastPort.Transports;

/// <summary>
/// The state of a connection's life cycle: bits of one word (<see cref="TransportConnection"/>), each set once, by an interlocked operation
/// on the thread named, and never cleared. Any thread may read them.
/// </summary>
[Flags]
internal enum LifeFlags
{
    None = 0,

    /// <summary>Any thread: the connection was started, or closed before a start. The thread that sets the bit begins or ends it.</summary>
    Claimed = 1,

    /// <summary>Any thread: there is a reason to close, and nothing more is offered to the protocol.</summary>
    Closing = 2,

    /// <summary>Any thread: the connection was aborted or lost. The loop ends it as soon as it checks.</summary>
    Aborted = 4,

    /// <summary>The sender: this side's stream has ended after its last byte.</summary>
    OutputDown = 8,

    /// <summary>The loop, or the thread that closed the connection before a start: input and output are being released.</summary>
    Ended = 16,

    /// <summary>An event loop: the descriptor is closed, and the loop does nothing more for the connection.</summary>
    Released = 32,
}

/// <summary>The state of a connection's reading: bits of one word that only the loop reads and writes.</summary>
[Flags]
internal enum ReadFlags
{
    None = 0,

    /// <summary>The protocol's first call was made.</summary>
    Open = 1,

    /// <summary>The protocol returned Pause and has not been offered its bytes since.</summary>
    Paused = 2,

    /// <summary>The end of the peer's stream was received.</summary>
    InputEnded = 4,

    /// <summary>The end of the peer's stream was reported to the protocol.</summary>
    InputEndReported = 8,

    /// <summary>Portable transport: a zero-byte receive is pending. The connection ends only after it completes.</summary>
    Receiving = 16,

    /// <summary>Event loops only, as all that follow: epoll reports the descriptor.</summary>
    Watched = 32,

    /// <summary>A receive may find something: there was an event, and no receive since that left room.</summary>
    Readable = 64,

    /// <summary>An event has reported the end of the peer's stream, or an error: receives continue until they find it.</summary>
    PeerEnded = 128,

    /// <summary>The loop reads nothing before a resumption, a close or an error: reading has paused, or the input has ended.</summary>
    Waiting = 256,

    /// <summary>The connection is flushed at the end of the loop's round.</summary>
    FlushQueued = 512,
}
