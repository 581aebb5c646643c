using System.Diagnostics.CodeAnalysis;
using System.Net;
using FastPort.Transports;

namespace FastPort;

/// <summary>
/// Where to listen or connect to, written as a URI: <c>tcp://127.0.0.1:6628</c>, <c>tcp://[::1]:0</c>, <c>tls://host</c>
/// (encrypted), <c>unix:///run/fastport.sock</c>,
/// <c>unix://@name</c> (Linux: a name without a file), <c>inproc://name</c> (within this process). Any other scheme is read as
/// <c>scheme://host:port/path?query</c>, for custom transports and aliases (<see cref="TransportCollection.MapScheme"/>). Immutable.
/// </summary>
/// <param name="Scheme">The transport's scheme, in lower case.</param>
/// <param name="Host">
/// Host name or address without brackets; for <c>unix</c> and <c>inproc</c> the path or name as written. Empty if the URI has none, as in
/// <c>serial:///dev/ttyS0</c>.
/// </param>
/// <param name="Port">
/// Port, 0 to 65535; 0 lets the operating system choose one when listening. -1 if none is given and the scheme has no known default. 0 for
/// <c>unix</c> and <c>inproc</c>, which have no ports.
/// </param>
/// <param name="Path">The path as written, with its leading slash; empty for none. Defaults to none.</param>
/// <param name="Query">The query as written, without its question mark; empty for none. Defaults to none.</param>
public sealed record Endpoint(string Scheme, string Host, int Port, string Path = "", string Query = "")
{
    /// <summary>The port of a <c>tcp</c> or <c>tls</c> URI without one: 6628.</summary>
    public const int DefaultPort = 6628;

    /// <summary>Whether the scheme's text is one name or path, without port, path and query.</summary>
    internal bool IsNamed => IsName(Scheme);

    /// <summary>Parses a URI.</summary>
    /// <param name="text">The URI, for example <c>tcp://127.0.0.1:6628</c>.</param>
    /// <exception cref="FormatException">The text is not an endpoint; the message says what is wrong with it.</exception>
    public static Endpoint Parse(string text) =>
        TryParse(text, out Endpoint? endpoint, out string? problem) ? endpoint : throw new FormatException(problem);

    /// <summary>Parses a URI without throwing.</summary>
    /// <param name="text">The URI.</param>
    /// <param name="endpoint">The endpoint, on success.</param>
    /// <param name="problem">What is wrong, with the text and an example, on failure.</param>
    public static bool TryParse(string? text, [NotNullWhen(true)] out Endpoint? endpoint, [NotNullWhen(false)] out string? problem) =>
        EndpointParser.TryParse(text, out endpoint, out problem);

    /// <summary>The URI. Parsing it yields an equal endpoint.</summary>
    public override string ToString()
    {
        if (IsNamed)
        {
            return $"{Scheme}://{Host}";
        }

        string host = Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host;
        string port = Port >= 0 ? $":{Port}" : string.Empty;
        return $"{Scheme}://{host}{port}{Path}{(Query.Length == 0 ? string.Empty : "?")}{Query}";
    }

    /// <summary>Whether the host is this machine, by an address or the name <c>localhost</c>.</summary>
    internal bool IsLoopback => string.Equals(Host, "localhost", StringComparison.OrdinalIgnoreCase)
        || (IPAddress.TryParse(Host, out IPAddress? address) && IPAddress.IsLoopback(address));

    internal static bool IsName(string scheme) => scheme is "unix" or "inproc";
}
