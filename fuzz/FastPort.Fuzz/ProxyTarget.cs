using System.Text;
using FastPort.Proxies;

namespace FastPort.Fuzz;

/// <summary>The PROXY header: whatever is decided about the first bytes is not changed by more of them.</summary>
internal static class ProxyTarget
{
    public static Target Create() => new("proxy", Run, Seeds, MaxBytes: 512);

    private static void Run(byte[] input)
    {
        ProxyHeaderStatus whole = ProxyHeader.Read(input, out ProxyHeader header);
        Finding.Unless(
            whole != ProxyHeaderStatus.Complete || (header.Length > 0 && header.Length <= input.Length), $"Length {header.Length}.");
        for (int length = 0; length < input.Length; length++)
        {
            ProxyHeaderStatus part = ProxyHeader.Read(input.AsSpan(0, length), out ProxyHeader early);
            Finding.Unless(
                part == ProxyHeaderStatus.Incomplete || (part == whole && early == header),
                $"After {length} bytes it was {part}, then {whole}.");
        }
    }

    private static IEnumerable<byte[]> Seeds() => new[]
    {
        "PROXY TCP4 192.0.2.7 192.0.2.1 4711 6628\r\nrest",
        "PROXY TCP6 2001:db8::1 ::1 1 65535\r\n",
        "PROXY UNKNOWN\r\n",
        "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0C\x01\x02\x03\x04\x05\x06\x07\x08\0\x01\0\x02rest",
        "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
        "\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x27" + new string('\x01', 39),
    }.Select(Encoding.Latin1.GetBytes);
}
