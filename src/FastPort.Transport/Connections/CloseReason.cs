namespace FastPort;

/// <summary>The kind of a connection's end: a small fixed set, for counters and metric tags.</summary>
public enum CloseKind
{
    /// <summary>The peer closed its side after whole messages, or announced that it would close.</summary>
    PeerClosed,

    /// <summary>The peer's side ended in the middle of a message.</summary>
    PeerTruncated,

    /// <summary>The operating system reported the connection as reset or lost.</summary>
    ConnectionLost,

    /// <summary>This program closed the connection.</summary>
    LocalClosed,

    /// <summary>The peer violated the protocol.</summary>
    ProtocolError,

    /// <summary>The peer did not finish the handshake in time.</summary>
    HandshakeTimeout,

    /// <summary>The peer did not finish a message in time.</summary>
    MessageTimeout,

    /// <summary>Nothing was received within the idle timeout.</summary>
    IdleTimeout,

    /// <summary>The peer read none or too few of the pending bytes within the write timeout.</summary>
    WriteTimeout,

    /// <summary>The peer did not answer a heartbeat.</summary>
    HeartbeatTimeout,

    /// <summary>The send queue was full and the policy is to disconnect.</summary>
    SlowConsumer,

    /// <summary>The server's memory budget was exhausted, and this connection's partly received or unsent bytes used part of it.</summary>
    MemoryLimit,

    /// <summary>The peer is not authenticated.</summary>
    Unauthenticated,

    /// <summary>A newer connection took over the identity of this one.</summary>
    TakenOver,

    /// <summary>The server or client is stopping.</summary>
    Stopping,

    /// <summary>A defect in this library or in a protocol; the log has the exception.</summary>
    Internal,
}

/// <summary>Why a connection ended. Immutable.</summary>
/// <param name="Kind">The class of reason.</param>
/// <param name="Message">One sentence for a log line, including the offending value.</param>
/// <param name="ProtocolCode">The protocol's own number for this reason, sent to or received from the peer. Defaults to 0: none.</param>
/// <param name="Exception">The exception that caused the end. Defaults to null: none.</param>
public sealed record CloseReason(CloseKind Kind, string Message, uint ProtocolCode = 0, Exception? Exception = null)
{
    /// <summary>The peer closed the connection.</summary>
    public static readonly CloseReason PeerClosed = new(CloseKind.PeerClosed, "The peer closed the connection.");

    /// <summary>The peer closed the connection in the middle of a message.</summary>
    public static readonly CloseReason PeerTruncated =
        new(CloseKind.PeerTruncated, "The peer closed the connection in the middle of a message.");

    /// <summary>This program closed the connection.</summary>
    public static readonly CloseReason LocalClosed = new(CloseKind.LocalClosed, "Closed by this program.");

    /// <summary>The server is stopping.</summary>
    public static readonly CloseReason Stopping = new(CloseKind.Stopping, "The server is stopping.");

    /// <summary>The kind and the message.</summary>
    public override string ToString() => $"{Kind}: {Message}";
}
