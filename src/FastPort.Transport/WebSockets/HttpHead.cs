using System.Buffers;
using System.Text;

namespace FastPort.WebSockets;

/// <summary>The first line and the header fields of an HTTP/1.1 message (RFC 9112, 2 and 5). Immutable.</summary>
/// <param name="Start">The three parts of the first line.</param>
/// <param name="Fields">Names and values, in order; values without surrounding white space.</param>
internal sealed record HttpHead(string[] Start, IReadOnlyList<(string Name, string Value)> Fields)
{
    /// <summary>The most bytes of a head; browsers send some hundred, and cookies.</summary>
    public const int MaxBytes = 16 * 1024;

    // RFC 9110, 5.6.2.
    private static readonly SearchValues<char> Token =
        SearchValues.Create("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

    /// <summary>Finds the end of a head.</summary>
    /// <param name="bytes">The beginning of a message.</param>
    /// <returns>Bytes of the head with its empty line; -1 if they do not hold it.</returns>
    public static int FindEnd(ReadOnlySpan<byte> bytes)
    {
        int end = bytes.IndexOf("\r\n\r\n"u8);
        return end < 0 ? -1 : end + 4;
    }

    /// <summary>Reads a head. Folded lines and bare line feeds are refused, as RFC 9112, 2.2 and 5.2 ask for.</summary>
    /// <param name="bytes">The head with its empty line.</param>
    /// <returns>The head; null if it is malformed.</returns>
    public static HttpHead? Read(ReadOnlySpan<byte> bytes)
    {
        // A byte above 0x7F can only be in a value; no field that matters here may have one.
        string[] lines = Encoding.Latin1.GetString(bytes[..^4]).Split("\r\n");
        string[] start = lines[0].Split(' ', 3);
        if (start.Length != 3 || lines[0].AsSpan().ContainsAnyInRange('\0', '\x1f'))
        {
            return null;
        }

        var fields = new (string, string)[lines.Length - 1];
        for (int i = 0; i < fields.Length; i++)
        {
            string line = lines[i + 1];
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon <= 0 || line.AsSpan(0, colon).ContainsAnyExcept(Token))
            {
                return null;
            }

            string value = line[(colon + 1)..].Trim(' ', '\t');
            if (value.AsSpan().IndexOfAnyInRange('\0', '\x08') >= 0 || value.AsSpan().IndexOfAnyInRange('\x0a', '\x1f') >= 0)
            {
                return null;
            }

            fields[i] = (line[..colon], value);
        }

        return new HttpHead(start, fields);
    }

    /// <summary>The value of a field that may be there once; null if it is missing or there several times.</summary>
    public string? One(string name)
    {
        string[] values = [.. Values(name)];
        return values.Length == 1 ? values[0] : null;
    }

    /// <summary>Whether a list, in one field or several, has an element, in any case.</summary>
    public bool Lists(string name, string element) => Values(name).Any(value => value.Split(',').Any(
        one => one.AsSpan().Trim(" \t").Equals(element, StringComparison.OrdinalIgnoreCase)));

    /// <summary>Whether there is a field with this name.</summary>
    public bool Has(string name) => Values(name).Any();

    private IEnumerable<string> Values(string name) =>
        Fields.Where(field => field.Name.Equals(name, StringComparison.OrdinalIgnoreCase)).Select(static field => field.Value);
}
