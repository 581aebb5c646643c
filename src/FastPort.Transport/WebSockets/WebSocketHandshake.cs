using System.Security.Cryptography;
using System.Text;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>The HTTP messages that begin a WebSocket (RFC 6455, 4).</summary>
internal static class WebSocketHandshake
{
    /// <summary>The field with what is offered and agreed besides the standard.</summary>
    public const string Extensions = "Sec-WebSocket-Extensions";

    private const string Version = "13";

    // 16 bytes in base64.
    private const int KeyLength = 24;

    // RFC 6455, 1.3.
    private static ReadOnlySpan<byte> Suffix => "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"u8;

    /// <summary>A key for a client's request: 16 random bytes.</summary>
    public static string NewKey() => Convert.ToBase64String(RandomNumberGenerator.GetBytes(16));

    /// <summary>A client's request.</summary>
    public static byte[] Request(Endpoint endpoint, string key, string protocol)
    {
        string host = (endpoint with { Path = string.Empty }).ToString()[(endpoint.Scheme.Length + 3)..];
        return Encoding.ASCII.GetBytes(
            $"GET {PathOf(endpoint)} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + $"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: {Version}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n");
    }

    /// <summary>What is wrong with a server's answer; null if it accepts.</summary>
    public static string? WhatIsWrong(HttpHead? answer, string key, string protocol) => answer switch
    {
        null => "the answer is not HTTP",
        { Start: not [_, "101", _] } => $"the server answered {PeerTextOf(answer)}",
        _ when !answer.Start[0].StartsWith("HTTP/1.", StringComparison.Ordinal) => "the answer is not HTTP/1.1",
        _ when !answer.Lists("Upgrade", "websocket") || !answer.Lists("Connection", "upgrade")
            || answer.One("Sec-WebSocket-Accept") != Accept(key) => "the answer is not that of a WebSocket server",
        _ when answer.Has(Extensions) => "the server chose an extension that was not offered",
        _ when answer.One("Sec-WebSocket-Protocol") != protocol => $"the server does not speak the sub-protocol {protocol}",
        _ => null,
    };

    /// <summary>Checks a client's request.</summary>
    /// <param name="request">The request; null if it is malformed.</param>
    /// <param name="path">The endpoint's path.</param>
    /// <param name="protocol">The sub-protocol.</param>
    /// <param name="compression">What was agreed about compression; null for none.</param>
    /// <param name="isAllowed">Whether a browser's page of an origin may connect to a host.</param>
    /// <returns>The answer, and why it refuses the request; no reason if it accepts.</returns>
    public static (byte[] Answer, string? Refusal) Answer(
        HttpHead? request, string path, string protocol, WebSocketCompression? compression, Func<string?, string, string?> isAllowed)
    {
        if (request is null || request.Start is not [var method, var target, "HTTP/1.1"])
        {
            return Refuse("400 Bad Request", "The request is not HTTP/1.1.");
        }

        if (method != "GET")
        {
            return Refuse("405 Method Not Allowed", "A WebSocket begins with GET.", "Allow: GET\r\n");
        }

        string asked = target.IndexOf('?', StringComparison.Ordinal) is >= 0 and var query ? target[..query] : target;
        if (asked != path)
        {
            return Refuse("404 Not Found", $"There is nothing at this path; the WebSocket is at {path}.");
        }

        if (!request.Lists("Upgrade", "websocket") || !request.Lists("Connection", "upgrade")
            || request.One("Sec-WebSocket-Version") != Version)
        {
            return Refuse(
                "426 Upgrade Required",
                $"This is a WebSocket endpoint (version {Version}); connect with a client that offers the sub-protocol {protocol}.",
                $"Upgrade: websocket\r\nSec-WebSocket-Version: {Version}\r\n");
        }

        if (request.One("Sec-WebSocket-Key") is not { } key || !IsKey(key))
        {
            return Refuse("400 Bad Request", "Sec-WebSocket-Key is missing, or is not 16 bytes in base64.");
        }

        if (request.One("Host") is not { Length: > 0 } host)
        {
            return Refuse("400 Bad Request", "Host is missing, or there are several.");
        }

        if (!request.Lists("Sec-WebSocket-Protocol", protocol))
        {
            return Refuse("400 Bad Request", $"Offer the sub-protocol {protocol} (Sec-WebSocket-Protocol).");
        }

        // A request without Origin does not come from a browser. Several Origin fields are refused as an origin that is not allowed.
        string? origin = request.Has("Origin") ? request.One("Origin") ?? string.Empty : null;
        if (isAllowed(origin, host) is { } refusal)
        {
            return Refuse("403 Forbidden", refusal);
        }

        string extensions = compression is null ? string.Empty : $"{Extensions}: {compression.Answer}\r\n";
        return (Encoding.ASCII.GetBytes(
            $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {Accept(key)}\r\n"
            + $"Sec-WebSocket-Protocol: {protocol}\r\n{extensions}\r\n"), null);
    }

    /// <summary>Sends one of these messages. A closing connection accepts no more bytes.</summary>
    public static void Send(TransportConnection connection, ReadOnlySpan<byte> message)
    {
        connection.WriteUnframed(message);
        connection.Flush();
    }

    /// <summary>The answer to a request whose head is too long.</summary>
    public static (byte[] Answer, string? Refusal) TooLong() =>
        Refuse("431 Request Header Fields Too Large", $"The request's head has more than {HttpHead.MaxBytes} bytes.");

    /// <summary>The path of an endpoint as it is asked for.</summary>
    public static string PathOf(Endpoint endpoint) => endpoint.Path.Length == 0 ? "/" : endpoint.Path;

    private static (byte[] Answer, string? Refusal) Refuse(string status, string sentence, string fields = "") => (Encoding.ASCII.GetBytes(
        $"HTTP/1.1 {status}\r\n{fields}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: {sentence.Length + 1}\r\n\r\n"
        + $"{sentence}\n"), sentence);

    // SHA-1 is the standard's (RFC 6455, 4.2.2), and protects nothing.
#pragma warning disable CA5350
    private static string Accept(string key)
    {
        Span<byte> text = stackalloc byte[KeyLength + Suffix.Length];
        Encoding.ASCII.GetBytes(key, text);
        Suffix.CopyTo(text[KeyLength..]);
        Span<byte> hash = stackalloc byte[SHA1.HashSizeInBytes];
        SHA1.HashData(text, hash);
        return Convert.ToBase64String(hash);
    }
#pragma warning restore CA5350

    private static bool IsKey(string key)
    {
        Span<byte> bytes = stackalloc byte[18];
        return key.Length == KeyLength && Convert.TryFromBase64String(key, bytes, out int count) && count == 16;
    }

    private static string PeerTextOf(HttpHead answer) => Logging.PeerText.Escape(string.Join(' ', answer.Start[1..]), 100);
}
