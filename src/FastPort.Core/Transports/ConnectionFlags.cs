namespace FastPort.Transports;

/// <summary>
/// How far a connection's life has gone: bits of one word (<see cref="TransportConnection"/>), each set once, by an interlocked operation
/// on the thread named, and never cleared. Any thread may look.
/// </summary>
[Flags]
internal enum LifeFlags
{
    None = 0,

    /// <summary>It was started, or closed before that: whoever comes first, on any thread, begins or ends it.</summary>
    Claimed = 1,

    /// <summary>Any thread: there is a reason to close, and nothing more is offered to the protocol.</summary>
    Closing = 2,

    /// <summary>Any thread: it was aborted or lost. The loop ends it as soon as it looks.</summary>
    Aborted = 4,

    /// <summary>Whoever sends: this side's stream has ended behind its last byte.</summary>
    OutputDown = 8,

    /// <summary>The loop, or who has closed it before a start: input and output are being given back.</summary>
    Ended = 16,

    /// <summary>An event loop: the descriptor is closed, and the loop has nothing more to do for it.</summary>
    Released = 32,
}

/// <summary>What a connection's loop knows of its reading: bits of one word that the loop alone reads and writes.</summary>
[Flags]
internal enum ReadFlags
{
    None = 0,

    /// <summary>The protocol has the connection: its first call was made.</summary>
    Open = 1,

    /// <summary>The protocol has said Pause and was not offered its bytes since.</summary>
    Paused = 2,

    /// <summary>The end of the peer's stream was received.</summary>
    InputEnded = 4,

    /// <summary>The protocol knows of that.</summary>
    InputEndReported = 8,

    /// <summary>Portable transport: a zero-byte receive is under way. The connection ends after it only.</summary>
    Receiving = 16,

    /// <summary>Event loops, as all that follow: epoll reports the descriptor.</summary>
    Watched = 32,

    /// <summary>A receive may find something: there was an event, and no receive since that left room.</summary>
    Readable = 64,

    /// <summary>An event has told of the end of the peer's stream, or of an error: receives go on until they find it.</summary>
    PeerEnded = 128,

    /// <summary>An event has told of an error of the socket.</summary>
    SocketFailed = 256,

    /// <summary>Nothing is read before a resumption, a close or an error: it has paused, or its input has ended.</summary>
    Waiting = 512,

    /// <summary>It is sent at the end of the loop's round.</summary>
    FlushQueued = 1024,

    /// <summary>It is read in the loop's next round: its turn ended too early.</summary>
    ContinueQueued = 2048,
}
