using FastPort.Connections;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <content>OpenSecureChannel messages and tokens (OPC 10000-4, 5.5.2; OPC 10000-6, 6.7.4).</content>
internal abstract partial class ChannelProtocol
{
    // Of an OpenSecureChannel message; certificates stand before it in clear text. Numbers, headers and nonce take 96 bytes, the signature
    // 512 with a key of 4,096 bits: four blocks of 256 bytes with the longest padding (190 bytes in each), two of 512. Twice that leaves
    // room for an audit id. Each block is decrypted before the peer has proved anything: 8 of them at most, with the smallest key.
    private const int MaxEncryptedBytes = 2 * 1024;

    // The OpenSecureChannel message that waits for its step; null if there never was one.
    private MessageBuffer? _openCopy;

    /// <summary>The channel's id; 0 before it is open.</summary>
    protected uint ChannelId { get; set; }

    /// <summary>The tokens that the peer may use.</summary>
    internal ChannelTokens Tokens { get; } = new();

    /// <summary>The certificates of both sides; null without security, and on the server before the client is known.</summary>
    public ChannelCredentials? Credentials { get; protected set; }

    /// <summary>Checks the sender of an OpenSecureChannel message; a server sets <see cref="Credentials"/> by it.</summary>
    /// <param name="header">The clear header.</param>
    /// <returns>Why the channel must end; null to continue.</returns>
    protected abstract ChannelFault? Identify(in AsymmetricHeader header);

    /// <summary>An OpenSecureChannel message was decrypted and verified.</summary>
    /// <param name="requestId">The request.</param>
    /// <param name="type">The message's type.</param>
    /// <param name="decoder">Stands at the header of the request or response.</param>
    /// <returns>Why the channel must end; null to continue.</returns>
    protected abstract ChannelFault? OnOpen(uint requestId, NodeId type, ref BinaryDecoder decoder);

    /// <summary>An OpenSecureChannel message was handled; on the loop.</summary>
    protected virtual void OnOpenHandled()
    {
    }

    /// <summary>The peer has begun to use a token; those before it end when the call returns.</summary>
    protected virtual void OnTokenUsed(ChannelToken token)
    {
    }

    /// <summary>
    /// Sends an OpenSecureChannel message, on the loop or aside. The loop's writes on this connection wait in the meantime. False if too
    /// much waits to be sent.
    /// </summary>
    protected bool WriteOpen(uint requestId, MessageBuffer message)
    {
        using var clear = new MessageBuffer(Pool);
        string policy = (Credentials?.Policy ?? SecurityPolicy.None).Uri;
        new AsymmetricHeader(ChannelId, policy, Credentials?.OwnCertificate, Credentials?.PeerThumbprint).Write(clear);
        bool isWritten = Writer.WriteOpen(
            clear.Segment, Credentials?.Asymmetric ?? ChunkSecurity.None, requestId, message.Written);
        Connection.Flush();
        return isWritten;
    }

    /// <summary>
    /// Drops expired tokens. Returns how long the oldest remaining one may be used; zero or less if none is left. Not while a step runs
    /// aside.
    /// </summary>
    protected TimeSpan DropExpiredTokens()
    {
        while (Tokens.Oldest!.Left(TokenClock) <= TimeSpan.Zero && Tokens.Second is { } next)
        {
            BeginUse(next);
        }

        return Tokens.Oldest!.Left(TokenClock);
    }

    private void BeginUse(ChannelToken token)
    {
        OnTokenUsed(token);
        Tokens.DropBefore(token);
    }

    private ChannelFault? FindToken(uint channelId, uint tokenId, out ChannelToken? token)
    {
        token = null;
        if (ChannelId == 0)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "A message came before the secure channel was opened.");
        }

        if (channelId != ChannelId)
        {
            return new ChannelFault(StatusCodes.BadTcpSecureChannelUnknown, $"There is no secure channel {channelId} here.");
        }

        token = Tokens.Find(tokenId);
        return token is not null
            ? null
            : new ChannelFault(StatusCodes.BadSecureChannelTokenUnknown, $"The token {tokenId} is unknown or has expired.");
    }

    // With a policy, the message needs RSA on both sides, and a server reads certificates from its folders: not on the loop.
    private ChannelFault? ReceiveOpen(ReadOnlySpan<byte> chunk)
    {
        if (!AsymmetricHeader.TryRead(chunk, out AsymmetricHeader header, out int clearBytes)
            || header.PolicyUri == SecurityPolicy.None.Uri)
        {
            ChannelFault? fault = HandleOpen(chunk);
            if (fault is null)
            {
                OnOpenHandled();
            }

            return fault;
        }

        if (chunk.Length - clearBytes > MaxEncryptedBytes)
        {
            return new ChannelFault(
                StatusCodes.BadTcpMessageTooLarge,
                $"The encrypted part of an OpenSecureChannel message is larger than {MaxEncryptedBytes} bytes.");
        }

        MessageBuffer copy = _openCopy = new MessageBuffer(Pool, chunk.Length);
        copy.Write(chunk);
        RunAside(
            () =>
            {
                using (copy)
                {
                    return HandleOpen(copy.Written);
                }
            },
            OnOpenHandled);
        return null;
    }

    private ChannelFault? HandleOpen(ReadOnlySpan<byte> chunk)
    {
        if (!AsymmetricHeader.TryRead(chunk, out AsymmetricHeader header, out int clearBytes))
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "The header of an OpenSecureChannel message is not valid.");
        }

        if (Identify(header) is { } refused)
        {
            return refused;
        }

        ChunkSecurity security = Credentials?.Asymmetric ?? ChunkSecurity.None;
        using var scratch = new MessageBuffer(Pool);
        if (!security.TryUnprotect(chunk, clearBytes, scratch, out ReadOnlySpan<byte> content))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityChecksFailed, "The signature or the padding of an OpenSecureChannel message is not valid.");
        }

        var decoder = new BinaryDecoder(content, Limits);
        if (CheckSequence(decoder.Read<uint>()) is { } fault)
        {
            return fault;
        }

        uint requestId = decoder.Read<uint>();
        return OnOpen(requestId, decoder.ReadNodeId(), ref decoder);
    }
}
