namespace FastPort.WebSockets;

/// <summary>
/// What a client and this server have agreed about compression, permessage-deflate (RFC 7692). Immutable. The runtime's library always uses
/// windows of 15 bits. It inflates what any smaller window has compressed, with or without context takeover, so a client may do as it
/// likes; an offer that limits this side's window is declined.
/// </summary>
/// <param name="Resets">Whether this side must compress each message without the ones before it.</param>
/// <param name="Answer">The value of Sec-WebSocket-Extensions.</param>
internal sealed record WebSocketCompression(bool Resets, string Answer)
{
    private const string Name = "permessage-deflate";
    private const string ServerResets = "server_no_context_takeover";
    private const string ClientResets = "client_no_context_takeover";
    private const string ServerWindow = "server_max_window_bits";
    private const string ClientWindow = "client_max_window_bits";

    /// <summary>The end of a flush: the sender of a message removes it, the receiver adds it again (RFC 7692, 7.2).</summary>
    public static ReadOnlySpan<byte> FlushEnd => [0x00, 0x00, 0xFF, 0xFF];

    /// <summary>Chooses the client's first offer that this side can honor.</summary>
    /// <param name="offers">The values of Sec-WebSocket-Extensions, separated by commas.</param>
    /// <returns>Null if there is none: nothing is compressed.</returns>
    public static WebSocketCompression? Choose(string offers)
    {
        // A quoted value may have no comma here: unquoted it must be a number.
        foreach (string offer in offers.Split(','))
        {
            if (Accept(offer.Split(';', StringSplitOptions.TrimEntries)) is { } accepted)
            {
                return accepted;
            }
        }

        return null;
    }

    // Null for an offer of another extension, or one with a parameter that is unknown, there twice, malformed, or cannot be honored (7.1).
    private static WebSocketCompression? Accept(ReadOnlySpan<string> offer)
    {
        if (offer[0] != Name)
        {
            return null;
        }

        var seen = new HashSet<string>(StringComparer.Ordinal);
        string answer = Name;
        foreach (string parameter in offer[1..])
        {
            int equals = parameter.IndexOf('=', StringComparison.Ordinal);
            string name = equals < 0 ? parameter : parameter[..equals].TrimEnd();
            string? value = equals < 0 ? null : Unquote(parameter[(equals + 1)..].TrimStart());
            string? agreed = (name, value) switch
            {
                (ServerResets, null) => $"; {ServerResets}",
                (ClientResets, null) => string.Empty,
                (ServerWindow, "15") => $"; {ServerWindow}=15",
                (ClientWindow, null) => string.Empty,

                // The client then knows that it keeps to it, which not every client takes for granted.
                (ClientWindow, "8" or "9" or "10" or "11" or "12" or "13" or "14" or "15") => $"; {ClientWindow}={value}",
                _ => null,
            };
            if (agreed is null || !seen.Add(name))
            {
                return null;
            }

            answer += agreed;
        }

        return new WebSocketCompression(seen.Contains(ServerResets), answer);
    }

    private static string Unquote(string value) => value is ['"', .. var inner, '"'] ? inner : value;
}
