namespace FastPort.Connections;

/// <summary>
/// A stage has no connection to work on: the peer has left without sending a byte for it, as port probes do. Nothing was refused, so it is
/// not counted as a rejection.
/// </summary>
internal sealed class PeerLeftException() : IOException("The peer left without sending anything.")
{
    /// <summary>Whether the peer has ended a connection: with this reason, or only its own stream (null).</summary>
    public static bool IsReason(CloseReason? reason) =>
        reason is null or { Kind: CloseKind.PeerClosed or CloseKind.PeerTruncated or CloseKind.ConnectionLost };
}
