using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Opening and renewing the channel (OPC 10000-4, 5.5.2), on the loop or in an aside step.</content>
internal sealed partial class ClientChannel
{
    // The server grants a quarter more; renewing at three quarters leaves time for a slow answer (OPC 10000-4, 5.5.2).
    private const double RenewAt = 0.75;

    // The next tick.
    private static readonly TimeSpan Soon = TimeSpan.FromMilliseconds(1);

    // The one OpenSecureChannel request that waits for its response; null if there is none.
    private (uint RequestId, byte[]? Nonce)? _opening;

    /// <summary>
    /// Ends the channel, once it was open: notifies the server (OPC 10000-6, 7.1.4) and closes the connection. Any thread.
    /// </summary>
    public void Close()
    {
        uint id = _requests.NextId();
        var message = new MessageBuffer(Pool);
        Encode(message, NodeId.Null, id, timeoutHint: 0, default(CloseSecureChannelRequest));
        Writer.Write(MessageType.Close, id, ref message);
        message.Dispose();
        Connection.Close(CloseReason.LocalClosed);
    }

    protected override ChannelFault? Identify(in AsymmetricHeader header)
    {
        bool isServer = header.PolicyUri == (Credentials?.Policy ?? SecurityPolicy.None).Uri
            && Credentials?.IsPeer(header.SenderCertificate.Span) != false;
        return isServer
            ? null
            : new ChannelFault(
                StatusCodes.BadSecurityChecksFailed, "The server's OpenSecureChannel message has a different policy or certificate.");
    }

    protected override ChannelFault? OnOpen(uint requestId, NodeId type, ref BinaryDecoder decoder)
    {
        ResponseHeader header = decoder.ReadStructure<ResponseHeader>();
        if (!header.ServiceResult.IsGood)
        {
            return new ChannelFault(header.ServiceResult, "The server refused to open the secure channel.");
        }

        OpenSecureChannelResponse response = decoder.ReadStructure<OpenSecureChannelResponse>();
        ChannelSecurityToken token = response.SecurityToken;
        if (!decoder.Error.IsGood || type.Number != OpenSecureChannelResponse.EncodingId || requestId != _opening?.RequestId
            || (ChannelId != 0 && token.ChannelId != ChannelId) || token.ChannelId == 0 || Tokens.Find(token.TokenId) is not null
            || (Credentials is not null && response.ServerNonce.Length != ChannelCredentials.NonceBytes))
        {
            return new ChannelFault(StatusCodes.BadDecodingError, "The server's OpenSecureChannel message is not valid.");
        }

        // Messages that the server still sends with earlier tokens are accepted, regardless of their number.
        var added = new ChannelToken(
            token.TokenId,
            Credentials?.Derive(_options.SecurityMode, _opening.Value.Nonce, response.ServerNonce.Span) ?? ChunkSecurity.None,
            TokenClock,
            TimeSpan.FromMilliseconds(Math.Max(token.RevisedLifetime, 1000)));
        Tokens.Add(added);
        ChannelId = token.ChannelId;
        Writer.SetToken(ChannelId, added);
        return null;
    }

    protected override void OnOpenHandled()
    {
        _opening = null;
        Connection.RequestTick();
        _opened.TrySetResult();
    }

    // Requests the next token when it is due. Returns the time until then; after the request, the time until the answer is due, or the next
    // tick if it could not be sent. A server that grants a longer lifetime than requested, or does not answer, does not delay the check of
    // its certificate.
    private TimeSpan RenewToken()
    {
        ChannelToken newest = Tokens.Newest!;
        TimeSpan lifetime = newest.Lifetime < _options.TokenLifetime ? newest.Lifetime : _options.TokenLifetime;
        TimeSpan age = TokenClock - newest.Created;
        TimeSpan renewAt = RenewAt * lifetime;
        if (age < renewAt)
        {
            return renewAt - age;
        }

        Open(SecurityTokenRequestType.Renew);
        TimeSpan left = (ChannelToken.EndsAt * lifetime) - age;
        return !IsAside && _opening is null && left > Soon ? Soon : left;
    }

    // On the loop. One such request at a time.
    private void Open(SecurityTokenRequestType type)
    {
        if (Connection.IsClosing || _opening is not null)
        {
            return;
        }

        _opening = (_requests.NextId(), Credentials is null ? null : ChannelCredentials.CreateNonce());
        if (Credentials is null)
        {
            SendOpen(type);
            return;
        }

        RunAside(
            () =>
            {
                if (type == SecurityTokenRequestType.Renew && Credentials.ValidatePeer() is { IsBad: true } status)
                {
                    return new ChannelFault(status, "The server's certificate is no longer accepted.");
                }

                SendOpen(type);
                return null;
            },
            () =>
            {
                if (_opening is null)
                {
                    Connection.RequestTick();
                }
            });
    }

    // If too many requests wait to be sent, this one is not sent: the next tick retries.
    private void SendOpen(SecurityTokenRequestType type)
    {
        (uint requestId, byte[]? nonce) = _opening!.Value;
        using var message = new MessageBuffer(Pool);
        Encode(message, NodeId.Null, requestId, (int)_options.RequestTimeout.TotalMilliseconds, new OpenSecureChannelRequest
        {
            RequestType = type,
            SecurityMode = Credentials is null ? MessageSecurityMode.None : _options.SecurityMode,
            ClientNonce = nonce,
            RequestedLifetime = (uint)_options.TokenLifetime.TotalMilliseconds,
        });
        if (!WriteOpen(requestId, message))
        {
            _opening = null;
        }
    }
}
