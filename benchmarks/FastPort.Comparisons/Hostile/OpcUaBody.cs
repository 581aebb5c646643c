using System.Text;

namespace FastPort.Comparisons.Hostile;

/// <summary>Writes OPC UA Binary (OPC 10000-6, 5.2), right or wrong as its caller likes.</summary>
internal sealed class OpcUaBody
{
    private readonly MemoryStream _bytes = new();

    public byte[] ToArray() => _bytes.ToArray();

    public OpcUaBody Bytes(params ReadOnlySpan<byte> bytes)
    {
        _bytes.Write(bytes);
        return this;
    }

    public OpcUaBody Number(int value) => Bytes(BitConverter.GetBytes(value));

    public OpcUaBody Long(long value) => Bytes(BitConverter.GetBytes(value));

    public OpcUaBody Double(double value) => Bytes(BitConverter.GetBytes(value));

    /// <summary>A null string, byte string or array.</summary>
    public OpcUaBody Null() => Number(-1);

    public OpcUaBody Text(string text) => Number(Encoding.UTF8.GetByteCount(text)).Bytes(Encoding.UTF8.GetBytes(text));

    /// <summary>A node of namespace 0, such as the encoding of a request.</summary>
    public OpcUaBody Node(ushort id) => Bytes(1, 0).Bytes(BitConverter.GetBytes(id));

    /// <summary>The same bytes again and again.</summary>
    public OpcUaBody Repeat(ReadOnlySpan<byte> bytes, int times)
    {
        for (int i = 0; i < times; i++)
        {
            _bytes.Write(bytes);
        }

        return this;
    }

    /// <summary>A request: its encoding and the header that all have.</summary>
    /// <param name="encoding">The number of its binary encoding.</param>
    /// <param name="session">The authentication token as it was received; a null node where there is no session.</param>
    public static OpcUaBody Request(ushort encoding, byte[] session) =>
        new OpcUaBody().Node(encoding).Bytes(session).Long(0).Number(1).Number(0).Null().Number(10_000).Bytes(0, 0, 0);
}
