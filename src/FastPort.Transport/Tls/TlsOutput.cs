using System.Net.Security;
using FastPort.Connections;
using FastPort.Transports.Layers;

namespace FastPort.Tls;

/// <summary>The send side of an encrypted connection: its pieces are TLS records.</summary>
internal sealed class TlsOutput(
    TlsConnection connection, Connection below, SslStream stream, RecordStream records, ConnectionSettings settings)
    : LayerOutput(connection, below, settings)
{
    protected override int Wrap(ReadOnlySpan<byte> bytes, out long end)
    {
        bytes = bytes[..Math.Min(bytes.Length, LongestPiece)];
        stream.Write(bytes);
        end = records.Written;
        return bytes.Length;
    }
}
