using System.Buffers.Binary;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace FastPort.Proxies;

/// <summary>The result of examining the first bytes of a connection.</summary>
internal enum ProxyHeaderStatus
{
    /// <summary>More bytes are needed.</summary>
    Incomplete,

    /// <summary>The header is complete.</summary>
    Complete,

    /// <summary>The bytes are not a header.</summary>
    Invalid,
}

/// <summary>
/// The header of the PROXY protocol, version 1 or 2, which a proxy sends before the client's bytes (haproxy.org, proxy-protocol.txt).
/// Immutable.
/// </summary>
/// <param name="Length">Its length in bytes.</param>
/// <param name="IsOwn">Whether the proxy speaks for itself, for example to check the server's health.</param>
/// <param name="Client">The client's address; null if the proxy speaks for itself or does not report it.</param>
internal readonly record struct ProxyHeader(int Length, bool IsOwn, IPEndPoint? Client)
{
    /// <summary>Maximum length in bytes that is accepted; version 1 has 107 at most, version 2 some hundreds with its extensions.</summary>
    public const int MaxBytes = 4096;

    private const int MaxTextBytes = 107;
    private const int FixedBytes = 16;

    private static ReadOnlySpan<byte> Signature => "\r\n\r\n\0\r\nQUIT\n"u8;

    private static ReadOnlySpan<byte> TextStart => "PROXY "u8;

    /// <summary>Examines the first bytes of a connection.</summary>
    /// <param name="bytes">The bytes so far: up to <see cref="MaxBytes"/> of them decide.</param>
    /// <param name="header">The header, if the result is Complete.</param>
    public static ProxyHeaderStatus Read(ReadOnlySpan<byte> bytes, out ProxyHeader header)
    {
        header = default;
        if (StartsAlike(bytes, Signature))
        {
            return bytes.Length < FixedBytes ? ProxyHeaderStatus.Incomplete : ReadBinary(bytes, out header);
        }

        return StartsAlike(bytes, TextStart) ? ReadText(bytes, out header) : ProxyHeaderStatus.Invalid;
    }

    // As far as there are bytes.
    private static bool StartsAlike(ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> start)
    {
        int length = Math.Min(bytes.Length, start.Length);
        return bytes[..length].SequenceEqual(start[..length]);
    }

    private static ProxyHeaderStatus ReadBinary(ReadOnlySpan<byte> bytes, out ProxyHeader header)
    {
        header = default;
        int version = bytes[12] >> 4;
        int command = bytes[12] & 0xF;
        int family = bytes[13];
        int length = FixedBytes + BinaryPrimitives.ReadUInt16BigEndian(bytes[14..]);
        if (version != 2 || command > 1 || length > MaxBytes)
        {
            return ProxyHeaderStatus.Invalid;
        }

        // Stream over IPv4 is 0x11, over IPv6 0x21. Others (Unix sockets, unspecified) contain no address that counts here.
        int addresses = family switch
        {
            0x11 => 12,
            0x21 => 36,
            _ => 0,
        };
        if (length < FixedBytes + addresses)
        {
            return ProxyHeaderStatus.Invalid;
        }

        if (bytes.Length < length)
        {
            return ProxyHeaderStatus.Incomplete;
        }

        ReadOnlySpan<byte> body = bytes[FixedBytes..length];
        bool isOwn = command == 0;

        // Two addresses, then two ports: the client's first.
        int size = (addresses - 4) / 2;
        IPEndPoint? client = isOwn || addresses == 0
            ? null
            : new IPEndPoint(new IPAddress(body[..size]), BinaryPrimitives.ReadUInt16BigEndian(body[(2 * size)..]));
        header = new ProxyHeader(length, isOwn, client);
        return ProxyHeaderStatus.Complete;
    }

    private static ProxyHeaderStatus ReadText(ReadOnlySpan<byte> bytes, out ProxyHeader header)
    {
        header = default;
        ReadOnlySpan<byte> line = bytes[..Math.Min(bytes.Length, MaxTextBytes)];
        int end = line.IndexOf((byte)'\n');
        if (end < 0)
        {
            return bytes.Length < MaxTextBytes ? ProxyHeaderStatus.Incomplete : ProxyHeaderStatus.Invalid;
        }

        if (end < TextStart.Length + 2 || line[end - 1] != '\r')
        {
            return ProxyHeaderStatus.Invalid;
        }

        string text = Encoding.Latin1.GetString(line[TextStart.Length..(end - 1)]);
        string[] words = text.Split(' ');
        IPEndPoint? client = null;
        if (words[0] != "UNKNOWN")
        {
            AddressFamily family = words[0] == "TCP4" ? AddressFamily.InterNetwork : AddressFamily.InterNetworkV6;
            if (words is not ["TCP4" or "TCP6", var from, var to, var fromPort, var toPort]
                || !TryReadAddress(from, family, out IPAddress? address)
                || !TryReadAddress(to, family, out _)
                || !TryReadPort(fromPort, out int port)
                || !TryReadPort(toPort, out _))
            {
                return ProxyHeaderStatus.Invalid;
            }

            client = new IPEndPoint(address, port);
        }

        header = new ProxyHeader(end + 1, IsOwn: false, client);
        return ProxyHeaderStatus.Complete;
    }

    // IPAddress also reads "1" and "[::1]:80".
    private static bool TryReadAddress(
        string text, AddressFamily family, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out IPAddress? address)
    {
        address = null;
        bool looksRight = family == AddressFamily.InterNetwork
            ? text.Count(static c => c == '.') == 3 && text.All(static c => char.IsAsciiDigit(c) || c == '.')
            : text.All(static c => char.IsAsciiHexDigit(c) || c is ':' or '.');
        return looksRight && IPAddress.TryParse(text, out address) && address.AddressFamily == family;
    }

    private static bool TryReadPort(string text, out int port) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out port) && port <= ushort.MaxValue;
}
