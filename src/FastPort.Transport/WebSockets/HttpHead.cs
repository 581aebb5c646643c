using System.Buffers;
using System.Text;

namespace FastPort.WebSockets;

/// <summary>
/// The first line and the header fields of an HTTP/1.1 message (RFC 9112, 2 and 5). Immutable. The fields are searched in the text: a
/// server whose clients all come back at once reads thousands of heads.
/// </summary>
internal sealed class HttpHead
{
    /// <summary>The most bytes of a head; browsers send some hundred, and cookies.</summary>
    public const int MaxBytes = 16 * 1024;

    // RFC 9110, 5.6.2.
    private static readonly SearchValues<char> Token =
        SearchValues.Create("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

    private readonly string _fields;

    private HttpHead(string[] start, string fields)
    {
        Start = start;
        _fields = fields;
    }

    /// <summary>The three parts of the first line.</summary>
    public string[] Start { get; }

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
        bytes = bytes[..^2];
        int first = bytes.IndexOf("\r\n"u8);
        string line = Encoding.Latin1.GetString(bytes[..first]);
        string[] start = line.Split(' ', 3);
        if (start.Length != 3 || line.AsSpan().ContainsAnyInRange('\0', '\x1f'))
        {
            return null;
        }

        string fields = Encoding.Latin1.GetString(bytes[(first + 2)..]);
        ReadOnlySpan<char> rest = fields;
        while (!rest.IsEmpty)
        {
            if (!TryReadField(ref rest, out ReadOnlySpan<char> name, out ReadOnlySpan<char> value)
                || name.ContainsAnyExcept(Token)
                || value.ContainsAnyInRange('\0', '\x08')
                || value.ContainsAnyInRange('\x0a', '\x1f'))
            {
                return null;
            }
        }

        return new HttpHead(start, fields);
    }

    /// <summary>The value of a field that may be there once; null if it is missing or there several times.</summary>
    public string? One(string name)
    {
        ReadOnlySpan<char> rest = _fields;
        ReadOnlySpan<char> found = default;
        int count = 0;
        while (TryFind(name, ref rest, out ReadOnlySpan<char> value))
        {
            found = value;
            count++;
        }

        return count == 1 ? found.ToString() : null;
    }

    /// <summary>The values of all fields with a name, separated by commas (RFC 9110, 5.3); empty if there are none.</summary>
    public string All(string name)
    {
        ReadOnlySpan<char> rest = _fields;
        List<string> values = [];
        while (TryFind(name, ref rest, out ReadOnlySpan<char> value))
        {
            values.Add(value.ToString());
        }

        return string.Join(',', values);
    }

    /// <summary>Whether a list, in one field or several, has an element, in any case.</summary>
    public bool Lists(string name, string element)
    {
        ReadOnlySpan<char> rest = _fields;
        while (TryFind(name, ref rest, out ReadOnlySpan<char> value))
        {
            foreach (Range one in value.Split(','))
            {
                if (value[one].Trim(" \t").Equals(element, StringComparison.OrdinalIgnoreCase))
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>Whether there is a field with this name.</summary>
    public bool Has(string name)
    {
        ReadOnlySpan<char> rest = _fields;
        return TryFind(name, ref rest, out _);
    }

    private static bool TryFind(string name, scoped ref ReadOnlySpan<char> rest, out ReadOnlySpan<char> value)
    {
        while (TryReadField(ref rest, out ReadOnlySpan<char> next, out value))
        {
            if (next.Equals(name, StringComparison.OrdinalIgnoreCase))
            {
                return true;
            }
        }

        return false;
    }

    // The next field, its value without surrounding white space; false if there is none, or no name before a colon.
    private static bool TryReadField(scoped ref ReadOnlySpan<char> rest, out ReadOnlySpan<char> name, out ReadOnlySpan<char> value)
    {
        int end = rest.IndexOf("\r\n");
        ReadOnlySpan<char> line = end < 0 ? default : rest[..end];
        int colon = line.IndexOf(':');
        if (colon <= 0)
        {
            name = value = default;
            return false;
        }

        rest = rest[(end + 2)..];
        name = line[..colon];
        value = line[(colon + 1)..].Trim(" \t");
        return true;
    }
}
