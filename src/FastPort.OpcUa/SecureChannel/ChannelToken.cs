namespace FastPort.OpcUa.SecureChannel;

/// <summary>A token of a channel with its keys (OPC 10000-4, 5.5.2).</summary>
/// <param name="Id">Contained in every chunk.</param>
/// <param name="Security">The protection by its keys. Owned by the token.</param>
/// <param name="Created">When it was created or received here, on the channel's clock of tokens.</param>
/// <param name="Lifetime">The lifetime that the server has granted.</param>
internal sealed record ChannelToken(uint Id, ChunkSecurity Security, TimeSpan Created, TimeSpan Lifetime)
{
    /// <summary>
    /// The end of a token's use in multiples of its lifetime: once, and a quarter for messages in transit (OPC 10000-6, 6.7.4).
    /// </summary>
    public const double EndsAt = 1.25;

    /// <summary>How long until the token must no longer be used.</summary>
    /// <param name="now">The channel's clock of tokens.</param>
    public TimeSpan Left(TimeSpan now) => (EndsAt * Lifetime) - (now - Created);
}
