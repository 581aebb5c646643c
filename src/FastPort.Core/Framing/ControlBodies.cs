namespace FastPort.Framing;

/// <summary>Body of Hello (type 1): the peer's identity.</summary>
internal readonly record struct HelloBody(string RoutingId, string Token, string ClientName, uint Extensions = 0) : IFrameBody
{
    public int Size => ProtoBody.FieldSize(RoutingId) + ProtoBody.FieldSize(Token) + ProtoBody.FieldSize(ClientName)
        + ProtoBody.FieldSize(Extensions);

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, RoutingId);
        at += ProtoBody.WriteField(destination[at..], 2, Token);
        at += ProtoBody.WriteField(destination[at..], 3, ClientName);
        ProtoBody.WriteField(destination[at..], 4, Extensions);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HelloBody hello)
    {
        string routingId = string.Empty, token = string.Empty, clientName = string.Empty;
        uint extensions = 0;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            switch (reader.Field)
            {
                case 1:
                    routingId = reader.ReadString();
                    break;
                case 2:
                    token = reader.ReadString();
                    break;
                case 3:
                    clientName = reader.ReadString();
                    break;
                case 4:
                    extensions = (uint)reader.Value;
                    break;
            }
        }

        hello = new HelloBody(routingId, token, clientName, extensions);
        return !reader.Malformed;
    }
}

/// <summary>Reply body of Hello.</summary>
internal readonly record struct WelcomeBody(
    ulong SessionId, string ServerName, uint MaxFrameBytes, uint HeartbeatMilliseconds, uint Extensions = 0) : IFrameBody
{
    public int Size => ProtoBody.FieldSize(SessionId) + ProtoBody.FieldSize(ServerName)
        + ProtoBody.FieldSize(MaxFrameBytes) + ProtoBody.FieldSize(HeartbeatMilliseconds) + ProtoBody.FieldSize(Extensions);

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, SessionId);
        at += ProtoBody.WriteField(destination[at..], 2, ServerName);
        at += ProtoBody.WriteField(destination[at..], 3, MaxFrameBytes);
        at += ProtoBody.WriteField(destination[at..], 4, HeartbeatMilliseconds);
        ProtoBody.WriteField(destination[at..], 5, Extensions);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out WelcomeBody welcome)
    {
        ulong sessionId = 0;
        string serverName = string.Empty;
        uint maxFrame = 0, heartbeat = 0, extensions = 0;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            switch (reader.Field)
            {
                case 1:
                    sessionId = reader.Value;
                    break;
                case 2:
                    serverName = reader.ReadString();
                    break;
                case 3:
                    maxFrame = (uint)reader.Value;
                    break;
                case 4:
                    heartbeat = (uint)reader.Value;
                    break;
                case 5:
                    extensions = (uint)reader.Value;
                    break;
            }
        }

        welcome = new WelcomeBody(sessionId, serverName, maxFrame, heartbeat, extensions);
        return !reader.Malformed;
    }
}

/// <summary>
/// A code and a text: the body of Goodbye (type 3) and of every error reply, which may have a detail: an encoded
/// <c>google.protobuf.Any</c>.
/// </summary>
internal readonly record struct CodeBody(ErrorCode Code, string Text, ReadOnlyMemory<byte> Detail = default) : IFrameBody
{
    public int Size => ProtoBody.FieldSize((uint)Code) + ProtoBody.FieldSize(Text) + ProtoBody.BytesFieldSize(Detail.Length);

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, (uint)Code);
        at += ProtoBody.WriteField(destination[at..], 2, Text);
        ProtoBody.WriteField(destination[at..], 3, Detail.Span);
    }

    /// <summary>This body, without its detail and with its text truncated if necessary to fit.</summary>
    public CodeBody CutTo(int largestBody)
    {
        if (Size <= largestBody)
        {
            return this;
        }

        if (!Detail.IsEmpty)
        {
            return (this with { Detail = default }).CutTo(largestBody);
        }

        // Tag and length take at most 6 bytes each, a UTF-16 unit at most 3 in UTF-8.
        return this with { Text = Text[..Math.Min(Text.Length, Math.Max(0, (largestBody - 12) / 3))] };
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out CodeBody result)
    {
        uint code = 0;
        string text = string.Empty;
        ReadOnlyMemory<byte> detail = default;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            switch (reader.Field)
            {
                case 1:
                    code = (uint)reader.Value;
                    break;
                case 2:
                    text = reader.ReadString();
                    break;
                case 3 when reader.IsBytes:
                    detail = reader.Bytes.ToArray();
                    break;
            }
        }

        result = new CodeBody((ErrorCode)code, text, detail);
        return !reader.Malformed;
    }
}

/// <summary>Body of Cancel (type 9).</summary>
internal readonly record struct CancelBody(uint Correlation) : IFrameBody
{
    public int Size => ProtoBody.FieldSize(Correlation);

    public void Write(Span<byte> destination) => ProtoBody.WriteField(destination, 1, Correlation);

    public static bool TryRead(ReadOnlySpan<byte> body, out CancelBody cancel)
    {
        uint correlation = 0;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            if (reader.Field == 1)
            {
                correlation = (uint)reader.Value;
            }
        }

        cancel = new CancelBody(correlation);
        return !reader.Malformed;
    }
}

/// <summary>What a <see cref="CreditBody"/> is for; the numbers are part of the protocol.</summary>
internal static class CreditOf
{
    /// <summary>Reply items of a request of the sender.</summary>
    public const uint ReplyItems = 0;

    /// <summary>Request items of a request of the receiver.</summary>
    public const uint RequestItems = 1;

    /// <summary>The next frame is the request that opens the call, with this grant for its reply items.</summary>
    public const uint Opening = 2;
}

/// <summary>Body of Credit (type 10): the receiver may send so many more items, with so many more bytes of bodies.</summary>
internal readonly record struct CreditBody(uint Correlation, uint Messages, uint Bytes, uint Of) : IFrameBody
{
    /// <summary>The largest size: four fields with a tag and five bytes.</summary>
    public const int LargestSize = 4 * 6;

    public int Size => ProtoBody.FieldSize(Correlation) + ProtoBody.FieldSize(Messages) + ProtoBody.FieldSize(Bytes)
        + ProtoBody.FieldSize(Of);

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, Correlation);
        at += ProtoBody.WriteField(destination[at..], 2, Messages);
        at += ProtoBody.WriteField(destination[at..], 3, Bytes);
        ProtoBody.WriteField(destination[at..], 4, Of);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out CreditBody credit)
    {
        uint correlation = 0, messages = 0, bytes = 0, of = 0;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            switch (reader.Field)
            {
                case 1:
                    correlation = (uint)reader.Value;
                    break;
                case 2:
                    messages = (uint)reader.Value;
                    break;
                case 3:
                    bytes = (uint)reader.Value;
                    break;
                case 4:
                    of = (uint)reader.Value;
                    break;
            }
        }

        credit = new CreditBody(correlation, messages, bytes, of);
        return !reader.Malformed;
    }
}
