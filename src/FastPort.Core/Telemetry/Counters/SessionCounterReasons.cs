namespace FastPort.Telemetry;

/// <summary>Why a frame was not sent or not handled.</summary>
public enum FrameDrop
{
    /// <summary>The send queue was full and the policy is to drop one-way frames.</summary>
    SendQueueFull,

    /// <summary>The connection closed before the frame was sent.</summary>
    ConnectionClosed,

    /// <summary>A rate or size policy refused the frame.</summary>
    Policy,
}

/// <summary>Which deadline closed a connection.</summary>
public enum ConnectionTimeout
{
    /// <summary>The peer did not send a required Hello in time.</summary>
    Handshake,

    /// <summary>The peer did not finish a frame in time.</summary>
    FrameProgress,

    /// <summary>Nothing was received within the idle timeout.</summary>
    Idle,

    /// <summary>The peer read none or too few of the pending bytes within the write timeout.</summary>
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

    /// <summary>The message with the sender's routing id exceeds the frame limit.</summary>
    TooLarge,

    /// <summary>The target's send queue had no room within the relay timeout, or its server did not confirm the message.</summary>
    TimedOut,

    /// <summary>The target is not on this server, and the other servers cannot be reached.</summary>
    Unavailable,
}
