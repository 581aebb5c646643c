using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The clear header of an OpenSecureChannel chunk (OPC 10000-6, 6.7.2.3).</summary>
/// <param name="ChannelId">The channel; 0 for a new one.</param>
/// <param name="PolicyUri">The security policy.</param>
/// <param name="SenderCertificate">The sender's certificate (DER), followed by its issuers; null for policy None.</param>
/// <param name="ReceiverThumbprint">SHA-1 of the receiver's certificate; null for policy None.</param>
internal readonly record struct AsymmetricHeader(
    uint ChannelId, string? PolicyUri, ByteString SenderCertificate, ByteString ReceiverThumbprint)
{
    private const int MaxUriBytes = 255;
    private const int MaxCertificateBytes = 64 * 1024;

    /// <summary>Reads the header of a chunk. False if it is not valid.</summary>
    /// <param name="chunk">The chunk.</param>
    /// <param name="header">The header.</param>
    /// <param name="clearBytes">Its length.</param>
    public static bool TryRead(ReadOnlySpan<byte> chunk, out AsymmetricHeader header, out int clearBytes)
    {
        var limits = new EncodingLimits(MaxUriBytes, MaxCertificateBytes, 0);
        var decoder = new BinaryDecoder(chunk[8..], limits);
        header = new AsymmetricHeader(
            decoder.Read<uint>(), decoder.ReadString(), decoder.ReadByteString(), decoder.ReadByteString());
        clearBytes = chunk.Length - decoder.Left;
        return decoder.Error.IsGood;
    }

    /// <summary>Writes the header, with room for the chunk's size.</summary>
    public void Write(MessageBuffer buffer)
    {
        var encoder = new BinaryEncoder(buffer);
        encoder.Write(MessageType.Open);
        encoder.Write(0);
        encoder.Write(ChannelId);
        encoder.WriteString(PolicyUri);
        encoder.WriteByteString(SenderCertificate);
        encoder.WriteByteString(ReceiverThumbprint);
        encoder.Complete();
    }
}
