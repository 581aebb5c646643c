using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace FastPort.Transports;

/// <summary>Parses endpoints; an invalid text yields one sentence that says what is wrong.</summary>
internal static class EndpointParser
{
    private const string ForbiddenInHost = "@[]\\\"<>";

    public static bool TryParse(string? text, [NotNullWhen(true)] out Endpoint? endpoint, [NotNullWhen(false)] out string? problem)
    {
        endpoint = null;
        int split = text?.IndexOf("://", StringComparison.Ordinal) ?? -1;
        if (split <= 0 || !IsScheme(text!.AsSpan(0, split)))
        {
            problem = $"'{Shown(text)}' is not an endpoint; write it as scheme://host:port, for example tcp://127.0.0.1:6628, or "
                + $"unix:///path.";
            return false;
        }

        string scheme = text![..split].ToLowerInvariant();
        string rest = text[(split + 3)..];
        if (Endpoint.IsName(scheme))
        {
            problem = WhatIsWrong(scheme, rest, Shown(text)!);
            endpoint = problem is null ? new Endpoint(scheme, rest, 0) : null;
        }
        else
        {
            problem = WhatIsWrong(scheme, rest, Shown(text)!, out endpoint);
        }

        return problem is null;
    }

    // scheme://host:port/path?query
    private static string? WhatIsWrong(string scheme, string rest, string text, out Endpoint? endpoint)
    {
        endpoint = null;
        if (rest.AsSpan().IndexOfAnyInRange('\0', '\x1f') >= 0 || rest.Contains('\x7f', StringComparison.Ordinal))
        {
            return $"'{text}' contains a control character; endpoints cannot.";
        }

        if (rest.Contains('#', StringComparison.Ordinal))
        {
            return $"'{text}' has a fragment (#), which means nothing to a connection; leave it out.";
        }

        int authorityEnd = rest.AsSpan().IndexOfAny('/', '?');
        string authority = authorityEnd < 0 ? rest : rest[..authorityEnd];
        string path = authorityEnd < 0 ? string.Empty : rest[authorityEnd..];
        string query = string.Empty;
        int mark = path.IndexOf('?', StringComparison.Ordinal);
        if (mark >= 0)
        {
            query = path[(mark + 1)..];
            path = path[..mark];
        }

        if (LayeredSchemes.IsWebSocket(scheme) && query.Length != 0)
        {
            return $"'{text}' has a query, which {scheme}:// endpoints do not have; remove '?{query}'.";
        }

        if (LayeredSchemes.IsWebSocket(scheme) && path.AsSpan().ContainsAnyExceptInRange('!', '~'))
        {
            return $"The path '{path}' of '{text}' has a character that a path of HTTP cannot have; write it in percent-encoding.";
        }

        if (scheme is "tcp" or "tls")
        {
            path = path.TrimEnd('/');
            if (path.Length != 0 || query.Length != 0)
            {
                string extra = rest[authorityEnd..];
                return $"'{text}' has a path or a query after the port, which {scheme}:// endpoints do not have; remove '{extra}'.";
            }
        }

        if (WhatIsWrong(scheme, authority, text, path, out string host, out int port) is { } problem)
        {
            return problem;
        }

        endpoint = new Endpoint(scheme, host, port, path, query);
        return null;
    }

    // host:port
    private static string? WhatIsWrong(string scheme, string authority, string text, string path, out string host, out int port)
    {
        int colon = authority.LastIndexOf(':');
        bool hasPort = colon >= 0 && authority.IndexOf(']', colon) < 0;
        host = hasPort ? authority[..colon] : authority;
        port = scheme == "tcp" ? Endpoint.DefaultPort : LayeredSchemes.DefaultPort(scheme) ?? -1;
        if (hasPort
            && (!int.TryParse(authority.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out port) || port > 65535))
        {
            return $"'{authority[(colon + 1)..]}' in '{text}' is not a port; use a number from 0 to 65535.";
        }

        if (host.StartsWith('[') && host.EndsWith(']'))
        {
            host = host[1..^1];
            return IsAddressOf6(host) ? null : $"'{host}' in '{text}' is not an IPv6 address; write for example {scheme}://[::1]:6628.";
        }

        if (host.Contains(':', StringComparison.Ordinal))
        {
            return $"The IPv6 address in '{text}' needs brackets, for example {scheme}://[::1]:6628.";
        }

        if (host.Length == 0 && (hasPort || scheme == "tcp" || LayeredSchemes.Contain(scheme) || path.Length == 0))
        {
            return $"'{text}' names no host; write for example {scheme}://127.0.0.1:6628, or {scheme}://0.0.0.0:6628 for every address.";
        }

        foreach (char c in host)
        {
            if (char.IsWhiteSpace(c) || ForbiddenInHost.Contains(c, StringComparison.Ordinal))
            {
                return $"'{host}' in '{text}' is not a host name or address; it contains '{c}'.";
            }
        }

        return null;
    }

    // For schemes whose text is one name.
    private static string? WhatIsWrong(string scheme, string name, string text) => scheme switch
    {
        "unix" when name is "" or "/" or "@" =>
            $"'{text}' names no file; write for example unix:///run/fastport.sock, or on Linux unix://@name.",
        "unix" when name[0] is not ('/' or '@') =>
            $"'{text}' is not an absolute path; write it with three slashes, for example unix:///run/fastport.sock.",
        "unix" when name.EndsWith('/') => $"'{text}' names a directory; append the name of the socket file.",
        "unix" when name.Contains('\0', StringComparison.Ordinal) => $"'{text}' contains a null character; paths cannot.",
        "inproc" when name.Length == 0 => $"'{text}' names no link; write for example inproc://game.",
        _ => null,
    };

    private static bool IsScheme(ReadOnlySpan<char> text)
    {
        foreach (char c in text)
        {
            if (!char.IsAsciiLetterOrDigit(c) && c is not ('+' or '-' or '.'))
            {
                return false;
            }
        }

        return char.IsAsciiLetter(text[0]);
    }

    private static bool IsAddressOf6(string host)
    {
        int zone = host.IndexOf('%', StringComparison.Ordinal);
        string address = zone < 0 ? host : host[..zone];
        return zone != host.Length - 1
            && address.Contains(':', StringComparison.Ordinal)
            && !host.Contains('[', StringComparison.Ordinal)
            && !host.AsSpan().ContainsAny(" @\\")
            && IPAddress.TryParse(address, out IPAddress? parsed)
            && parsed.AddressFamily == AddressFamily.InterNetworkV6;
    }

    private static string? Shown(string? text) => text?.Replace("\0", "\\0", StringComparison.Ordinal).ReplaceLineEndings("\\n");
}
