using System.Buffers;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa;

/// <content>OPC UA Binary (OPC 10000-6, 5.2.2.16).</content>
public readonly partial struct Variant
{
    /// <summary>Writes the variant in OPC UA Binary: the encoding byte, then the value.</summary>
    /// <param name="writer">Receives the bytes.</param>
    public void WriteBinary(IBufferWriter<byte> writer)
    {
        ArgumentNullException.ThrowIfNull(writer);
        var encoder = new BinaryEncoder(writer);
        encoder.WriteVariant(this);
        encoder.Complete();
    }

    /// <summary>Reads a variant in OPC UA Binary.</summary>
    /// <param name="bytes">All of its bytes.</param>
    /// <param name="variant">The variant, on success.</param>
    /// <returns>False if the bytes are not exactly one variant.</returns>
    public static bool TryReadBinary(ReadOnlySpan<byte> bytes, out Variant variant)
    {
        var decoder = new BinaryDecoder(bytes, EncodingLimits.Default);
        variant = decoder.ReadVariant();
        return decoder.Error.IsGood && decoder.Left == 0;
    }
}
