using System.Security.Cryptography.X509Certificates;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>Opening and renewing the channel (OPC 10000-4, 5.5.2).</content>
internal sealed partial class ServerChannel
{
    private static readonly TimeSpan ShortestLifetime = TimeSpan.FromSeconds(10);

    // Null before the channel is opened.
    private SecurityPolicy? _policy;

    /// <summary>How messages are protected.</summary>
    public MessageSecurityMode SecurityMode { get; private set; }

    // The peer of a new channel, or the same peer that renews.
    protected override ChannelFault? Identify(in AsymmetricHeader header)
    {
        if (!_helloReceived)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "A Hello message is expected before a secure channel is opened.");
        }

        if (header.ChannelId != ChannelId)
        {
            return new ChannelFault(StatusCodes.BadTcpSecureChannelUnknown, $"There is no secure channel {header.ChannelId} here.");
        }

        if (_policy is not null)
        {
            bool isSame = header.PolicyUri == _policy.Uri && (Credentials is null || Credentials.IsPeer(header.SenderCertificate.Span));
            return !isSame
                ? new ChannelFault(
                    StatusCodes.BadSecurityChecksFailed, "The secure channel was renewed with a different policy or certificate.")
                : Credentials is null ? null
                : CheckTrust(Credentials.ValidatePeer(), Credentials.Peer, header.SenderCertificate.Memory);
        }

        if (SecurityPolicy.Find(header.PolicyUri) is not { } policy)
        {
            // The client's text is neither logged nor sent back.
            return new ChannelFault(StatusCodes.BadSecurityPolicyRejected, "The security policy is unknown.");
        }

        // Without security every client may ask for endpoints.
        if (policy.IsNone)
        {
            _policy = policy;
            return null;
        }

        if (_server.Certificates is not { } certificates || !_server.Offers(policy))
        {
            return new ChannelFault(StatusCodes.BadSecurityPolicyRejected, $"The security policy {policy.Uri} is not offered.");
        }

        if (!header.ReceiverThumbprint.Span.SequenceEqual(certificates.Own.Thumbprint))
        {
            // The client may have an old certificate: the answer says so (OPC 10000-6, 6.7.7).
            return new ChannelFault(
                StatusCodes.BadCertificateInvalid, "The message is encrypted for a certificate other than the server's.");
        }

        if (CertificateStore.TryReadLeaf(header.SenderCertificate.Span) is not { } certificate)
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "The client's certificate cannot be read.");
        }

        // Its issuers too, for each renewal.
        byte[] sent = header.SenderCertificate.ToArray()!;
        Func<X509Certificate2, StatusCode> validate = one => certificates.Validate(one, sent);
        if (CheckTrust(validate(certificate), certificate, sent) is { } refused)
        {
            certificate.Dispose();
            return refused;
        }

        _policy = policy;
        Credentials = new ChannelCredentials(policy, certificates.Own, certificate, validate);
        return null;
    }

    private ChannelFault? CheckTrust(StatusCode status, X509Certificate2 certificate, ReadOnlyMemory<byte> sent)
    {
        if (!status.IsBad)
        {
            return null;
        }

        if (_server.MayWarn())
        {
            // A certificate that is not trusted yet was saved.
            string advised = _server.Certificates!.Advise(status, certificate, sent);
            string advice = advised.Length == 0 ? string.Empty : $". {advised}";
            ServerLog.CertificateRefused(_server.Logger, Connection.RemoteEndPoint, certificate.Thumbprint, status, advice);
        }

        // A stranger gets no more details (OPC 10000-4, 6.1.3).
        bool tells = status == StatusCodes.BadCertificateTimeInvalid || status == StatusCodes.BadCertificateUseNotAllowed;
        return new ChannelFault(tells ? status : StatusCodes.BadSecurityChecksFailed, "The client's certificate is not accepted.");
    }

    protected override ChannelFault? OnOpen(uint requestId, NodeId type, ref BinaryDecoder decoder)
    {
        RequestHeader header = decoder.ReadStructure<RequestHeader>();
        OpenSecureChannelRequest request = decoder.ReadStructure<OpenSecureChannelRequest>();
        if (!decoder.Error.IsGood || type != new NodeId(0, OpenSecureChannelRequest.EncodingId))
        {
            return new ChannelFault(StatusCodes.BadDecodingError, "The body of an OpenSecureChannel message is not valid.");
        }

        bool renews = request.RequestType == SecurityTokenRequestType.Renew;
        if (renews != (ChannelId != 0))
        {
            return new ChannelFault(
                StatusCodes.BadRequestTypeInvalid, renews ? "There is no secure channel to renew." : "The secure channel is open.");
        }

        if (CheckMode(request) is { } mismatch)
        {
            return mismatch;
        }

        Issue(requestId, header.RequestHandle, request);
        return null;
    }

    // The token's end is a deadline.
    protected override void OnOpenHandled() => Connection.RequestTick();

    // The client uses the new token: so does the server from now on.
    protected override void OnTokenUsed(ChannelToken token) => Writer.SetToken(ChannelId, token);

    private ChannelFault? CheckMode(in OpenSecureChannelRequest request)
    {
        MessageSecurityMode mode = request.SecurityMode;
        bool isPossible = _policy!.IsNone ? mode == MessageSecurityMode.None : _server.Offers(_policy, mode);
        if (!isPossible || (ChannelId != 0 && mode != SecurityMode))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityModeRejected, $"The security mode {mode} does not match the policy {_policy.Uri}.");
        }

        if (!_policy.IsNone && request.ClientNonce.Length != ChannelCredentials.NonceBytes)
        {
            return new ChannelFault(
                StatusCodes.BadNonceInvalid,
                $"The client's nonce has {request.ClientNonce.Length} bytes instead of {ChannelCredentials.NonceBytes}.");
        }

        SecurityMode = mode;
        return null;
    }

    private void Issue(uint requestId, uint requestHandle, in OpenSecureChannelRequest request)
    {
        TimeSpan longest = _server.Options.MaxTokenLifetime;
        TimeSpan wished = request.RequestedLifetime == 0 ? longest : TimeSpan.FromMilliseconds(request.RequestedLifetime);
        byte[]? nonce = Credentials is null ? null : ChannelCredentials.CreateNonce();
        var token = new ChannelToken(
            (Tokens.Newest?.Id ?? 0) + 1,
            Credentials?.Derive(SecurityMode, nonce, request.ClientNonce.Span) ?? ChunkSecurity.None,
            TokenClock,
            wished < ShortestLifetime ? ShortestLifetime : wished > longest ? longest : wished);
        Tokens.Add(token);
        bool isNew = ChannelId == 0;
        ChannelId = isNew ? _server.NextChannelId() : ChannelId;
        var response = new OpenSecureChannelResponse
        {
            SecurityToken = new ChannelSecurityToken
            {
                ChannelId = ChannelId,
                TokenId = token.Id,
                CreatedAt = Now,
                RevisedLifetime = (uint)token.Lifetime.TotalMilliseconds,
            },
            ServerNonce = nonce,
        };
        using var message = new MessageBuffer(Pool);
        EncodeResponse(message, requestHandle, StatusCodes.Good, response);
        if (!WriteOpen(requestId, message))
        {
            // The client cannot be notified: it does not read its responses.
            Connection.Abort(new CloseReason(CloseKind.SlowConsumer, "There was no room to send a token of the secure channel."));
            return;
        }

        if (isNew)
        {
            Writer.SetToken(ChannelId, token);
        }
    }
}
