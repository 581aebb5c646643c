using System.Diagnostics.CodeAnalysis;
using System.Globalization;

namespace FastPort.Transports;

/// <summary>
/// Where to listen or connect to, written as a URI: <c>tcp://127.0.0.1:6628</c>, <c>tcp://[::1]:0</c>, <c>unix:///run/fastport.sock</c>,
/// <c>unix://@name</c> (Linux: a name without a file), <c>inproc://name</c> (within this process). Immutable.
/// </summary>
/// <param name="Scheme">The transport's scheme, in lower case.</param>
/// <param name="Host">Host name or address without brackets; for schemes without a host, the path or name, taken as it is written.</param>
/// <param name="Port">Port, 0 to 65535; 0 lets the operating system choose one when listening.</param>
public sealed record Endpoint(string Scheme, string Host, int Port)
{
    /// <summary>The port where a URI names none: 6628.</summary>
    public const int DefaultPort = 6628;

    /// <summary>Reads a URI.</summary>
    /// <param name="text">The URI, for example <c>tcp://127.0.0.1:6628</c>.</param>
    /// <exception cref="FormatException">The text is no endpoint; the message says what is wrong with it.</exception>
    public static Endpoint Parse(string text) =>
        TryParse(text, out Endpoint? endpoint, out string? problem) ? endpoint : throw new FormatException(problem);

    /// <summary>Reads a URI without throwing.</summary>
    /// <param name="text">The URI.</param>
    /// <param name="endpoint">The endpoint, on success.</param>
    /// <param name="problem">What is wrong, with the text and an example, on failure.</param>
    public static bool TryParse(string? text, [NotNullWhen(true)] out Endpoint? endpoint, [NotNullWhen(false)] out string? problem)
    {
        endpoint = null;
        problem = null;
        int split = text?.IndexOf("://", StringComparison.Ordinal) ?? -1;
        if (split <= 0)
        {
            problem = $"'{text}' is not an endpoint; write it as scheme://host:port, for example tcp://127.0.0.1:6628, or unix:///path.";
            return false;
        }

        string scheme = text![..split].ToLowerInvariant();
        string rest = text[(split + 3)..].TrimEnd('/');
        if (scheme is not ("tcp" or "tls" or "opc.tcp"))
        {
            string name = text[(split + 3)..];
            problem = WhatIsWrong(scheme, name, text);
            endpoint = problem is null ? new Endpoint(scheme, name, 0) : null;
            return problem is null;
        }

        int colon = rest.LastIndexOf(':');
        bool hasPort = colon >= 0 && rest.IndexOf(']', colon) < 0;
        string host = hasPort ? rest[..colon] : rest;
        int port = DefaultPort;
        if (hasPort && (!int.TryParse(rest.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out port) || port > 65535))
        {
            problem = $"'{rest[(colon + 1)..]}' in '{text}' is not a port; use a number from 0 to 65535.";
            return false;
        }

        if (host.StartsWith('[') && host.EndsWith(']'))
        {
            host = host[1..^1];
        }
        else if (host.Contains(':', StringComparison.Ordinal))
        {
            problem = $"The IPv6 address in '{text}' needs brackets, for example tcp://[::1]:6628.";
            return false;
        }

        if (host.Length == 0)
        {
            problem = $"'{text}' names no host; write for example tcp://127.0.0.1:6628, or tcp://0.0.0.0:6628 for every address.";
            return false;
        }

        endpoint = new Endpoint(scheme, host, port);
        return true;
    }

    // Of the schemes whose names this library knows.
    private static string? WhatIsWrong(string scheme, string name, string text) => scheme switch
    {
        "unix" when name is "" or "/" or "@" => $"'{text}' names no file; write for example unix:///run/fastport.sock, or on Linux unix://@name.",
        "unix" when name[0] is not ('/' or '@') => $"'{text}' is not a whole path; write it with three slashes, for example unix:///run/fastport.sock.",
        "unix" when name.EndsWith('/') => $"'{text}' names a directory; write the name of the socket's file behind it.",
        "unix" when name.Contains('\0', StringComparison.Ordinal) => $"'{text.Replace("\0", "\\0", StringComparison.Ordinal)}' has a zero character in it; no path has.",
        "inproc" when name.Length == 0 => $"'{text}' names no link; write for example inproc://game.",
        _ => null,
    };

    /// <summary>The URI.</summary>
    public override string ToString() =>
        Scheme is not ("tcp" or "tls" or "opc.tcp") ? $"{Scheme}://{Host}"
        : Host.Contains(':', StringComparison.Ordinal) ? $"{Scheme}://[{Host}]:{Port}" : $"{Scheme}://{Host}:{Port}";
}
