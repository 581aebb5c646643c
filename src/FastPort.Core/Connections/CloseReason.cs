namespace FastPort.Connections;

/// <summary>What ended a connection, as a small fixed set that can be counted and used as a metric tag.</summary>
public enum CloseKind
{
    /// <summary>The peer closed its side after whole messages, or said that it was leaving.</summary>
    PeerClosed,

    /// <summary>The peer's side ended in the middle of a message.</summary>
    PeerTruncated,

    /// <summary>The connection was reset or lost below us.</summary>
    ConnectionLost,

    /// <summary>This program asked for it.</summary>
    LocalClosed,

    /// <summary>The peer broke the protocol.</summary>
    ProtocolError,

    /// <summary>The peer did not finish the handshake in time.</summary>
    HandshakeTimeout,

    /// <summary>A message begun was not finished in time.</summary>
    MessageTimeout,

    /// <summary>Nothing was received for too long.</summary>
    IdleTimeout,

    /// <summary>The peer took nothing for too long while bytes were waiting for it.</summary>
    WriteTimeout,

    /// <summary>The peer answered no heartbeat.</summary>
    HeartbeatTimeout,

    /// <summary>The send queue was full and the policy is to disconnect.</summary>
    SlowConsumer,

    /// <summary>What the peer had sent in part, or did not read, held memory that the server's budget did not have.</summary>
    MemoryLimit,

    /// <summary>The peer is not who it must be.</summary>
    Unauthenticated,

    /// <summary>A newer connection took this one's identity over.</summary>
    TakenOver,

    /// <summary>The server or client is stopping.</summary>
    Stopping,

    /// <summary>A defect in this library or in a protocol plugged into it; the log has the exception.</summary>
    Internal,
}

/// <summary>Why a connection ended. Immutable.</summary>
/// <param name="Kind">The class of reason.</param>
/// <param name="Message">One sentence for a log line, with the value that was wrong.</param>
/// <param name="ProtocolCode">
/// A number of the protocol's own for the same reason, which it tells the peer or was told by it. Defaults to 0: none,
/// <paramref name="Kind"/> says it all.
/// </param>
/// <param name="Exception">What was thrown, if anything was. Defaults to null.</param>
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

    /// <inheritdoc/>
    public override string ToString() => $"{Kind}: {Message}";
}
