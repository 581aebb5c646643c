namespace FastPort;

/// <summary>The frame protocol's codes for close reasons; connections know no frames.</summary>
public static class CloseReasonExtensions
{
    /// <summary>The code of a Goodbye with this reason, sent or received.</summary>
    /// <param name="reason">Why a session ended.</param>
    /// <returns>
    /// The code given with the reason; otherwise the code for its <see cref="CloseReason.Kind"/>, None if there is none.
    /// </returns>
    public static ErrorCode GetErrorCode(this CloseReason reason)
    {
        ArgumentNullException.ThrowIfNull(reason);
        return reason.ProtocolCode != 0 ? (ErrorCode)reason.ProtocolCode : reason.Kind switch
        {
            CloseKind.HandshakeTimeout or CloseKind.Unauthenticated => ErrorCode.Unauthenticated,
            CloseKind.MessageTimeout or CloseKind.IdleTimeout or CloseKind.WriteTimeout or CloseKind.HeartbeatTimeout => ErrorCode.Timeout,
            CloseKind.MemoryLimit => ErrorCode.Overloaded,
            CloseKind.TakenOver => ErrorCode.DuplicateIdentity,
            CloseKind.Stopping => ErrorCode.ShuttingDown,
            CloseKind.Internal => ErrorCode.Internal,
            _ => ErrorCode.None,
        };
    }
}
