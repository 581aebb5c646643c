namespace FastPort.Telemetry.Counters;

/// <summary>Why a connection was turned away when it was accepted.</summary>
public enum ConnectionRejection
{
    /// <summary>The limit of connections in all was reached.</summary>
    ConnectionLimit,

    /// <summary>The limit of connections of one address was reached.</summary>
    AddressLimit,

    /// <summary>The server was stopping.</summary>
    ShuttingDown,

    /// <summary>A stage before the protocol refused it.</summary>
    Refused,

    /// <summary>The limit of connections that have not said Hello was reached.</summary>
    UnidentifiedLimit,

    /// <summary>The limit of connections in stages before the protocol was reached.</summary>
    StageLimit,

    /// <summary>Its stages did not end in time.</summary>
    StageTimeout,

    /// <summary>A stage failed.</summary>
    StageFailed,
}

/// <summary>Why a frame was not sent or not handled.</summary>
public enum FrameDrop
{
    /// <summary>The send queue was full and the policy is to drop one-way frames.</summary>
    SendQueueFull,

    /// <summary>The connection closed before the frame was sent.</summary>
    ConnectionClosed,

    /// <summary>A rate or size policy refused it.</summary>
    Policy,
}

/// <summary>Which deadline closed a connection.</summary>
public enum ConnectionTimeout
{
    /// <summary>No Hello in time where one is required.</summary>
    Handshake,

    /// <summary>A frame was begun and not finished in time.</summary>
    FrameProgress,

    /// <summary>Nothing was received for too long.</summary>
    Idle,

    /// <summary>The peer took nothing for too long.</summary>
    Write,

    /// <summary>A heartbeat was not answered.</summary>
    Heartbeat,
}

/// <summary>Why a Relay did not reach its target.</summary>
public enum RelayFailure
{
    /// <summary>No session has the routing id.</summary>
    NotFound,

    /// <summary>The target's send queue is full and its policy drops.</summary>
    Dropped,

    /// <summary>The message exceeds the frame limit once the sender's routing id is in it.</summary>
    TooLarge,

    /// <summary>The target's send queue had no room for the time that a relay may wait.</summary>
    TimedOut,
}
