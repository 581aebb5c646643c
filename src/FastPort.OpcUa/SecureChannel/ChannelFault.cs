namespace FastPort.OpcUa.SecureChannel;

/// <summary>Why a channel must end, for the peer and for the log.</summary>
/// <param name="Status">The status, sent to the peer by a server.</param>
/// <param name="Reason">One sentence; sent to the peer unless the status is BadSecurityChecksFailed.</param>
internal sealed record ChannelFault(StatusCode Status, string Reason)
{
    public override string ToString() => $"{Status}: {Reason}";
}
