namespace FastPort.OpcUa.SecureChannel;

/// <summary>The negotiated sizes of a connection (OPC 10000-6, 7.1.2.3). 0 is no limit for messages and chunks.</summary>
/// <param name="ChunkBytes">Largest chunk, in both directions.</param>
/// <param name="MaxReceiveMessageBytes">Largest message that this side accepts.</param>
/// <param name="MaxSendMessageBytes">Largest message that the peer accepts.</param>
/// <param name="MaxSendChunks">Most chunks of a message that the peer accepts.</param>
internal sealed record ChannelLimits(int ChunkBytes, int MaxReceiveMessageBytes, uint MaxSendMessageBytes, uint MaxSendChunks)
{
    /// <summary>The smallest chunk size that may be agreed on.</summary>
    public const int MinChunkBytes = 8192;

    /// <summary>The longest endpoint URL and the longest reason of an error.</summary>
    public const int MaxTextBytes = 4096;

    /// <summary>
    /// One chunk size for both directions: some peers do not tell the directions apart, so both are always equal.
    /// </summary>
    public static int AgreeOnChunkBytes(int own, uint peerReceives, uint peerSends) =>
        (int)Math.Min((uint)own, Math.Min(peerReceives, peerSends));
}
