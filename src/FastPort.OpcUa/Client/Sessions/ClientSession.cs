using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// A session as the server knows it. It outlives the secure channel that it was created on. The nonce belongs to the task that connects.
/// </summary>
internal sealed class ClientSession(in CreateSessionResponse created, EndpointDescription[] endpoints)
{
    /// <summary>What requests name the session with.</summary>
    public NodeId Token { get; } = created.AuthenticationToken;

    /// <summary>
    /// The server's certificate, even if the channel has no security: some servers then list it only at other endpoints. Null for none.
    /// </summary>
    public ByteString ServerCertificate { get; } =
        created.ServerCertificate.Length != 0 ? created.ServerCertificate : EndpointList.CertificateIn(endpoints);

    /// <summary>The endpoints of the server, with the users that each accepts.</summary>
    public EndpointDescription[] Endpoints { get; } = endpoints;

    /// <summary>The server's URI, as it reports; null if it reports none.</summary>
    public string? ApplicationUri => Endpoints.Select(static one => one.Server.ApplicationUri).FirstOrDefault();

    /// <summary>The session ends if there is no request for this time.</summary>
    public TimeSpan Timeout { get; } = TimeSpan.FromTicks(Math.Clamp(
        Durations.OfMilliseconds(created.RevisedSessionTimeout).Ticks, TimeSpan.TicksPerSecond, TimeSpan.TicksPerDay));

    /// <summary>What the next activation has to sign.</summary>
    public ByteString ServerNonce { get; set; } = created.ServerNonce;
}
