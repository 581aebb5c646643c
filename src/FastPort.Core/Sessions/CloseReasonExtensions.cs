using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions;

/// <summary>Close reasons as the frame protocol tells them: connections know no frames, so the codes are given here.</summary>
public static class CloseReasonExtensions
{
    /// <summary>The code that a Goodbye with this reason carries, or carried where the peer said it.</summary>
    /// <param name="reason">Why a session ended.</param>
    /// <returns>The code that was given with the reason; else the one that belongs to its <see cref="CloseReason.Kind"/>, None where there
    /// is none.</returns>
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
