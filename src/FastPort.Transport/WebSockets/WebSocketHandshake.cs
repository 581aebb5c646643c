using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using System.Text.Unicode;
using FastPort.Logging;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>The HTTP messages that begin a WebSocket (RFC 6455, 4).</summary>
internal static class WebSocketHandshake
{
    /// <summary>Has room for an answer.</summary>
    public const int MaxAnswer = 512;

    private const string Version = "13";

    // Of the accept: a SHA-1 hash in base64.
    private const int AcceptLength = 28;

    /// <summary>The answer to what is not HTTP/1.1.</summary>
    public static WebSocketRefusal NoHttp { get; } = new("400 Bad Request", "The request is not HTTP/1.1.");

    /// <summary>The answer to a request whose head is too long.</summary>
    public static WebSocketRefusal TooLong { get; } =
        new("431 Request Header Fields Too Large", $"The request's head has more than {HttpHead.MaxBytes} bytes.");

    /// <summary>The field with what is offered and agreed besides the standard.</summary>
    public static ReadOnlySpan<byte> Extensions => "Sec-WebSocket-Extensions"u8;

    // RFC 6455, 1.3.
    private static ReadOnlySpan<byte> Suffix => "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"u8;

    /// <summary>A key for a client's request: 16 random bytes.</summary>
    public static WebSocketKey NewKey()
    {
        WebSocketKey key = default;
        Span<byte> random = stackalloc byte[16];
        RandomNumberGenerator.Fill(random);
        Base64.EncodeToUtf8(random, key, out _, out _);
        return key;
    }

    /// <summary>A client's request.</summary>
    public static byte[] Request(Endpoint endpoint, WebSocketKey key, string protocol)
    {
        string host = (endpoint with { Path = string.Empty }).ToString()[(endpoint.Scheme.Length + 3)..];
        return Encoding.ASCII.GetBytes(
            $"GET {PathOf(endpoint)} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + $"Sec-WebSocket-Key: {Encoding.ASCII.GetString(key)}\r\nSec-WebSocket-Version: {Version}\r\n"
            + $"Sec-WebSocket-Protocol: {protocol}\r\n\r\n");
    }

    /// <summary>What is wrong with a server's answer; null if it accepts.</summary>
    public static string? WhatIsWrong(HttpHead answer, in WebSocketKey key, string protocol)
    {
        if (!answer.Second.SequenceEqual("101"u8))
        {
            string status = $"{Encoding.Latin1.GetString(answer.Second)} {Encoding.Latin1.GetString(answer.Third)}";
            return "the server answered " + PeerText.Escape(status, 100);
        }

        Span<byte> accept = stackalloc byte[AcceptLength];
        WriteAccept(accept, key);
        return !answer.First.StartsWith("HTTP/1."u8) ? "the answer is not HTTP/1.1"
            : !answer.Lists("Upgrade"u8, "websocket") || !answer.Lists("Connection"u8, "upgrade")
                || !answer.TryGetOne("Sec-WebSocket-Accept"u8, out ReadOnlySpan<byte> accepted) || !accepted.SequenceEqual(accept)
                    ? "the answer is not that of a WebSocket server"
            : answer.Has(Extensions) ? "the server chose an extension that was not offered"
            : !answer.Is("Sec-WebSocket-Protocol"u8, protocol) ? $"the server does not speak the sub-protocol {protocol}"
            : null;
    }

    /// <summary>Checks a client's request, except for its origin.</summary>
    /// <param name="request">The request.</param>
    /// <param name="path">The endpoint's path.</param>
    /// <param name="protocol">The sub-protocol.</param>
    /// <param name="key">The request's key.</param>
    /// <returns>Why it is refused; null if it is not.</returns>
    public static WebSocketRefusal? Check(HttpHead request, string path, string protocol, out WebSocketKey key)
    {
        key = default;
        if (!request.Third.SequenceEqual("HTTP/1.1"u8))
        {
            return NoHttp;
        }

        if (!request.First.SequenceEqual("GET"u8))
        {
            return new WebSocketRefusal("405 Method Not Allowed", "A WebSocket begins with GET.", "Allow: GET\r\n");
        }

        ReadOnlySpan<byte> target = request.Second;
        if (!Ascii.Equals(target.IndexOf((byte)'?') is >= 0 and var query ? target[..query] : target, path))
        {
            return new WebSocketRefusal("404 Not Found", $"There is nothing at this path; the WebSocket is at {path}.");
        }

        if (!request.Lists("Upgrade"u8, "websocket") || !request.Lists("Connection"u8, "upgrade")
            || !request.Is("Sec-WebSocket-Version"u8, Version))
        {
            return new WebSocketRefusal(
                "426 Upgrade Required",
                $"This is a WebSocket endpoint (version {Version}); connect with a client that offers the sub-protocol {protocol}.",
                $"Upgrade: websocket\r\nSec-WebSocket-Version: {Version}\r\n");
        }

        if (!TryGetKey(request, out key))
        {
            return new WebSocketRefusal("400 Bad Request", "Sec-WebSocket-Key is missing, or is not 16 bytes in base64.");
        }

        if (!request.TryGetOne("Host"u8, out ReadOnlySpan<byte> host) || host.IsEmpty)
        {
            return new WebSocketRefusal("400 Bad Request", "Host is missing, or there are several.");
        }

        return request.Lists("Sec-WebSocket-Protocol"u8, protocol)
            ? null
            : new WebSocketRefusal("400 Bad Request", $"Offer the sub-protocol {protocol} (Sec-WebSocket-Protocol).");
    }

    /// <summary>Writes the answer that accepts a request. Returns its length.</summary>
    /// <param name="destination">Room for <see cref="MaxAnswer"/> bytes.</param>
    /// <param name="key">The request's key.</param>
    /// <param name="protocol">The sub-protocol.</param>
    /// <param name="compression">What was agreed about compression; null for none.</param>
    public static int WriteAnswer(Span<byte> destination, in WebSocketKey key, string protocol, WebSocketCompression? compression)
    {
        ReadOnlySpan<byte> head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "u8;
        head.CopyTo(destination);
        int length = head.Length;
        WriteAccept(destination[length..], key);
        length += AcceptLength;
        string extensions = compression is null ? string.Empty : $"Sec-WebSocket-Extensions: {compression.Answer}\r\n";
        Utf8.TryWrite(destination[length..], $"\r\nSec-WebSocket-Protocol: {protocol}\r\n{extensions}\r\n", out int written);
        return length + written;
    }

    /// <summary>Sends one of these messages. A closing connection accepts no more bytes.</summary>
    public static void Send(TransportConnection connection, ReadOnlySpan<byte> message)
    {
        connection.WriteUnframed(message);
        connection.Flush();
    }

    /// <summary>The path of an endpoint as it is asked for.</summary>
    public static string PathOf(Endpoint endpoint) => endpoint.Path.Length == 0 ? "/" : endpoint.Path;

    private static bool TryGetKey(HttpHead request, out WebSocketKey key)
    {
        key = default;
        Span<byte> bytes = stackalloc byte[18];
        if (!request.TryGetOne("Sec-WebSocket-Key"u8, out ReadOnlySpan<byte> text) || text.Length != WebSocketKey.Length
            || Base64.DecodeFromUtf8(text, bytes, out int read, out int count) != OperationStatus.Done
            || read != text.Length || count != 16)
        {
            return false;
        }

        text.CopyTo(key);
        return true;
    }

    // SHA-1 is the standard's (RFC 6455, 4.2.2), and protects nothing.
#pragma warning disable CA5350
    private static void WriteAccept(Span<byte> destination, in WebSocketKey key)
    {
        Span<byte> text = stackalloc byte[WebSocketKey.Length + Suffix.Length];
        ((ReadOnlySpan<byte>)key).CopyTo(text);
        Suffix.CopyTo(text[WebSocketKey.Length..]);
        Span<byte> hash = stackalloc byte[SHA1.HashSizeInBytes];
        SHA1.HashData(text, hash);
        Base64.EncodeToUtf8(hash, destination, out _, out _);
    }
#pragma warning restore CA5350
}
