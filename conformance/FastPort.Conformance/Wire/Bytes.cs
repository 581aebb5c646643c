using System.Globalization;
using System.Text;

namespace FastPort.Conformance.Wire;

/// <summary>Bytes as the cases write them: <c>text:abc</c>, <c>hex:00ff</c>, <c>echo:abc</c>, <c>fill:1000</c>, or empty.</summary>
internal static class Bytes
{
    private const byte Filling = 0x2a;

    /// <exception cref="FormatException">The text has another form.</exception>
    public static byte[] Parse(string text)
    {
        string[] parts = text.Split(':', 2);
        return parts switch
        {
            [""] => [],
            ["text", var value] => Encoding.UTF8.GetBytes(value),
            ["hex", var value] => Convert.FromHexString(value.Replace(" ", string.Empty, StringComparison.Ordinal)),
            ["echo", var value] => Echo(Encoding.UTF8.GetBytes(value)),
            ["fill", var count] => [.. Enumerable.Repeat(Filling, int.Parse(count, CultureInfo.InvariantCulture))],
            _ => throw new FormatException($"'{text}' is not text:, hex:, echo: or fill:."),
        };
    }

    /// <summary>The beginning of the bytes, for messages.</summary>
    public static string Show(ReadOnlySpan<byte> bytes) =>
        bytes.Length <= 64 ? Convert.ToHexStringLower(bytes) : $"{Convert.ToHexStringLower(bytes[..64])}...";

    // An Echo message: field 1, length-delimited.
    private static byte[] Echo(byte[] payload)
    {
        using var message = new MemoryStream();
        Proto.WriteBytes(message, 1, payload);
        return message.ToArray();
    }
}
