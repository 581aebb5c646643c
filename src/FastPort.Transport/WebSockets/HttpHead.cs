using System.Buffers;
using System.Text;

namespace FastPort.WebSockets;

/// <summary>
/// The first line and the header fields of an HTTP/1.1 message (RFC 9112, 2 and 5), in the bytes that it was read from. Nothing is
/// allocated: a server whose clients all come back at once reads thousands of heads.
/// </summary>
internal readonly ref struct HttpHead
{
    /// <summary>The most bytes of a head; browsers send some hundred, and cookies.</summary>
    public const int MaxBytes = 16 * 1024;

    // RFC 9110, 5.6.2.
    private static readonly SearchValues<byte> Token =
        SearchValues.Create("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"u8);

    private readonly ReadOnlySpan<byte> _fields;

    private HttpHead(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, ReadOnlySpan<byte> third, ReadOnlySpan<byte> fields)
    {
        First = first;
        Second = second;
        Third = third;
        _fields = fields;
    }

    /// <summary>A request's method, or an answer's version.</summary>
    public ReadOnlySpan<byte> First { get; }

    /// <summary>A request's target, or an answer's status.</summary>
    public ReadOnlySpan<byte> Second { get; }

    /// <summary>A request's version, or an answer's reason.</summary>
    public ReadOnlySpan<byte> Third { get; }

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
    /// <param name="head">The head, valid as long as the bytes.</param>
    /// <returns>False if it is malformed.</returns>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out HttpHead head)
    {
        head = default;
        bytes = bytes[..^2];
        int end = bytes.IndexOf("\r\n"u8);
        ReadOnlySpan<byte> line = bytes[..end];
        ReadOnlySpan<byte> fields = bytes[(end + 2)..];
        int first = line.IndexOf((byte)' ');
        int second = first < 0 ? -1 : line[(first + 1)..].IndexOf((byte)' ');
        if (second < 0 || line.ContainsAnyInRange((byte)0, (byte)0x1f))
        {
            return false;
        }

        for (ReadOnlySpan<byte> rest = fields; !rest.IsEmpty;)
        {
            if (!TryReadField(ref rest, out ReadOnlySpan<byte> name, out ReadOnlySpan<byte> value)
                || name.ContainsAnyExcept(Token)
                || value.ContainsAnyInRange((byte)0, (byte)0x08)
                || value.ContainsAnyInRange((byte)0x0a, (byte)0x1f))
            {
                return false;
            }
        }

        second += first + 1;
        head = new HttpHead(line[..first], line[(first + 1)..second], line[(second + 1)..], fields);
        return true;
    }

    /// <summary>The value of a field that may be there once; false if it is missing or there several times.</summary>
    public bool TryGetOne(ReadOnlySpan<byte> name, out ReadOnlySpan<byte> value)
    {
        ReadOnlySpan<byte> rest = _fields;
        return TryFind(name, ref rest, out value) && !TryFind(name, ref rest, out _);
    }

    /// <summary>The value of a field that may be there once, as text; empty if it is missing or there several times.</summary>
    public string TextOf(ReadOnlySpan<byte> name) =>
        TryGetOne(name, out ReadOnlySpan<byte> value) ? Encoding.Latin1.GetString(value) : string.Empty;

    /// <summary>The values of all fields with a name, separated by commas (RFC 9110, 5.3); empty if there are none.</summary>
    public string All(ReadOnlySpan<byte> name)
    {
        ReadOnlySpan<byte> rest = _fields;
        string all = string.Empty;
        while (TryFind(name, ref rest, out ReadOnlySpan<byte> value))
        {
            all += (all.Length == 0 ? string.Empty : ",") + Encoding.Latin1.GetString(value);
        }

        return all;
    }

    /// <summary>Whether a field is there once, with this value.</summary>
    public bool Is(ReadOnlySpan<byte> name, ReadOnlySpan<char> value) =>
        TryGetOne(name, out ReadOnlySpan<byte> found) && Ascii.Equals(found, value);

    /// <summary>Whether a list, in one field or several, has an element, in any case.</summary>
    public bool Lists(ReadOnlySpan<byte> name, ReadOnlySpan<char> element)
    {
        ReadOnlySpan<byte> rest = _fields;
        while (TryFind(name, ref rest, out ReadOnlySpan<byte> value))
        {
            foreach (Range one in value.Split((byte)','))
            {
                if (Ascii.EqualsIgnoreCase(value[one].Trim(" \t"u8), element))
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>Whether there is a field with this name.</summary>
    public bool Has(ReadOnlySpan<byte> name)
    {
        ReadOnlySpan<byte> rest = _fields;
        return TryFind(name, ref rest, out _);
    }

    private static bool TryFind(ReadOnlySpan<byte> name, scoped ref ReadOnlySpan<byte> rest, out ReadOnlySpan<byte> value)
    {
        while (TryReadField(ref rest, out ReadOnlySpan<byte> next, out value))
        {
            if (Ascii.EqualsIgnoreCase(next, name))
            {
                return true;
            }
        }

        return false;
    }

    // The next field, its value without surrounding white space; false if there is none, or no name before a colon.
    private static bool TryReadField(scoped ref ReadOnlySpan<byte> rest, out ReadOnlySpan<byte> name, out ReadOnlySpan<byte> value)
    {
        int end = rest.IndexOf("\r\n"u8);
        ReadOnlySpan<byte> line = end < 0 ? default : rest[..end];
        int colon = line.IndexOf((byte)':');
        if (colon <= 0)
        {
            name = value = default;
            return false;
        }

        rest = rest[(end + 2)..];
        name = line[..colon];
        value = line[(colon + 1)..].Trim(" \t"u8);
        return true;
    }
}
