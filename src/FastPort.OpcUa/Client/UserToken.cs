using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Logging;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>The identity token of the client's user, and its signature (OPC 10000-4, 7.41).</summary>
internal sealed class UserToken
{
    private readonly string _endpointUrl;
    private readonly SecurityPolicy _channelPolicy;
    private readonly MessageSecurityMode _mode;
    private readonly ClientSession _session;
    private readonly Action<X509Certificate2, ByteString, string?>? _mustTrust;
    private readonly bool _sendsPlain;

    // The token policies of the user's kind, for messages.
    private readonly string _offered;

    /// <summary>Creates the token.</summary>
    /// <param name="endpointUrl">For messages.</param>
    /// <param name="options">The client's options with the user.</param>
    /// <param name="channelPolicy">The policy of the channel.</param>
    /// <param name="mode">The mode of the channel.</param>
    /// <param name="session">The session, with the server's certificate and nonce.</param>
    /// <param name="mustTrust">
    /// Throws unless the server's certificate, sent in this chain and with this application URI, can be trusted; null if the channel has
    /// already checked that.
    /// </param>
    /// <exception cref="OpcUaException">
    /// The endpoint accepts no such user, or the password would be sent unencrypted, or encrypted for an untrusted server.
    /// </exception>
    public UserToken(
        string endpointUrl,
        OpcUaClientOptions options,
        SecurityPolicy channelPolicy,
        MessageSecurityMode mode,
        ClientSession session,
        Action<X509Certificate2, ByteString, string?>? mustTrust)
    {
        _endpointUrl = endpointUrl;
        _channelPolicy = channelPolicy;
        _mode = mode;
        _session = session;
        _mustTrust = mustTrust;
        _sendsPlain = options.UnsafePlainPassword;
        UserTokenType type = options.UserCertificate is not null ? UserTokenType.Certificate
            : options.UserName is not null ? UserTokenType.UserName
            : UserTokenType.Anonymous;
        UserTokenPolicy[] accepted =
        [
            .. EndpointList.Of(session.Endpoints, channelPolicy, mode).SelectMany(static e => e.UserIdentityTokens ?? []),
        ];
        UserTokenPolicy[] offered = Array.FindAll(accepted, one => one.TokenType == type);
        _offered = PeerText.Escape(string.Join(", ", offered.Select(one => NameOf(one).Replace(SecurityPolicy.Prefix, string.Empty))));

        // The first that encrypts and signs; otherwise, for a password, the first without a policy; otherwise an unusable one.
        UserTokenPolicy policy = offered
            .OrderByDescending(one => PolicyOf(one) is { } known ? known.IsNone ? 1 : 2 : 0).FirstOrDefault();
        if (policy.PolicyId is null)
        {
            NotAccepted = $"{endpointUrl} accepts no users of kind {type} with {Describe(channelPolicy, mode)}; "
                + AdviceFor(type, [.. accepted.Select(static one => one.TokenType).Where(kind => kind != type).Distinct()]);
            if (type != UserTokenType.Anonymous)
            {
                throw new OpcUaException(StatusCodes.BadIdentityTokenRejected, NotAccepted);
            }
        }

        Encoded = type switch
        {
            UserTokenType.Certificate => OfCertificate(options.UserCertificate!, policy),
            UserTokenType.UserName => OfName(options.UserName!, options.Password, policy),
            _ => new AnonymousIdentityToken { PolicyId = policy.PolicyId }.ToExtensionObject(),
        };
    }

    /// <summary>The token.</summary>
    public ExtensionObject Encoded { get; }

    /// <summary>
    /// The token for servers that know the legacy format of passwords only, where <see cref="Encoded"/> has the other one; else null.
    /// </summary>
    public ExtensionObject? Legacy { get; private set; }

    /// <summary>Whether the password is sent unencrypted.</summary>
    public bool IsPlain { get; private set; }

    /// <summary>Proof that the user has the certificate's key; empty for other users.</summary>
    public SignatureData Signature { get; private set; }

    /// <summary>
    /// Advice if the server refuses the token because its endpoint does not list this kind of user: the listed kinds, and the options to
    /// set. Null if it lists this kind.
    /// </summary>
    public string? NotAccepted { get; }

    private static string Describe(SecurityPolicy policy, MessageSecurityMode mode) =>
        policy.IsNone ? $"SecurityPolicy {policy.Option}" : $"SecurityPolicy {policy.Option} and SecurityMode {mode}";

    // Without policies that the client does not know: they cannot be set.
    private string AdviceFor(UserTokenType type, UserTokenType[] kinds)
    {
        IEnumerable<string> users = kinds.Select(static kind => kind switch
        {
            UserTokenType.Anonymous => "neither UserName nor UserCertificate",
            UserTokenType.UserName => "UserName and Password",
            UserTokenType.Certificate => "UserCertificate",
            _ => string.Empty,
        });
        IEnumerable<string> channels = _session.Endpoints
            .Where(e => Array.Exists(e.UserIdentityTokens ?? [], one => one.TokenType == type && one.PolicyId is not null))
            .Select(e => SecurityPolicy.Find(e.SecurityPolicyUri) is { } known ? Describe(known, e.SecurityMode) : string.Empty);
        string[] settings = [.. users.Concat(channels).Where(static one => one.Length != 0).Distinct()];
        string named = kinds.Length == 0 ? "it names no kind that it accepts." : $"it accepts {PeerText.Escape(string.Join(", ", kinds))}.";
        return settings.Length == 0 ? named : $"{named} Set {string.Join(", or ", settings)}.";
    }

    // The policy of a token is the channel's unless it names another.
    private string NameOf(in UserTokenPolicy policy) =>
        string.IsNullOrEmpty(policy.SecurityPolicyUri) ? _channelPolicy.Uri : policy.SecurityPolicyUri;

    // Null if it is not known here.
    private SecurityPolicy? PolicyOf(in UserTokenPolicy policy) => SecurityPolicy.Find(NameOf(policy));

    private ExtensionObject OfCertificate(X509Certificate2 certificate, in UserTokenPolicy policy)
    {
        using X509Certificate2? server = CertificateStore.TryReadLeaf(_session.ServerCertificate.Span);
        using RSA? key = certificate.GetRSAPrivateKey();
        if (server is null || key is null || PolicyOf(policy) is not { IsNone: false } tokenPolicy)
        {
            throw new OpcUaException(
                StatusCodes.BadIdentityTokenRejected,
                $"{_endpointUrl} cannot be given the user's certificate: "
                + (key is null ? "it has no private RSA key."
                    : server is null ? "the server has sent no certificate that could be signed."
                    : $"it accepts one only with the policies {_offered}, and the client can sign with none of them."));
        }

        Signature = new SignatureData
        {
            Algorithm = tokenPolicy.SignatureUri,
            Signature = key.SignData(
                [.. server.RawDataMemory.Span, .. _session.ServerNonce.Span], HashAlgorithmName.SHA256, tokenPolicy.Signature),
        };
        return new X509IdentityToken { PolicyId = policy.PolicyId, CertificateData = certificate.RawData }.ToExtensionObject();
    }

    private ExtensionObject OfName(string name, string password, in UserTokenPolicy policy)
    {
        byte[] secret = System.Text.Encoding.UTF8.GetBytes(password);
        SecurityPolicy? tokenPolicy = PolicyOf(policy);
        var token = new UserNameIdentityToken { PolicyId = policy.PolicyId, UserName = name };
        if (tokenPolicy is { IsNone: false })
        {
            using X509Certificate2? certificate = CertificateStore.TryReadLeaf(_session.ServerCertificate.Span);
            using RSA? key = certificate is null ? null : CertificateStore.TryGetKey(certificate);
            if (key is null)
            {
                throw CannotEncrypt();
            }

            // Without channel security, anyone could have answered with another certificate (OPC 10000-4, 7.42).
            _mustTrust?.Invoke(certificate!, _session.ServerCertificate, _session.ApplicationUri);
            token.Password = Encrypt(() => EncryptedSecret.Encrypt(tokenPolicy, key, secret, _session.ServerNonce.Span));
            token.EncryptionAlgorithm = tokenPolicy.EncryptionUri;
            if (secret.Length > EncryptedSecret.MaxBytes)
            {
                // The format that the standard requires, which names the algorithm itself; many servers do not know it.
                Legacy = token.ToExtensionObject();
                token.Password = Encrypt(() => RsaEncryptedSecret.Encrypt(
                    tokenPolicy, key, certificate!.GetCertHash(), secret, _session.ServerNonce.Span, DateTime.UtcNow));
                token.EncryptionAlgorithm = null;
            }
        }
        else if (tokenPolicy is not null && (_mode == MessageSecurityMode.SignAndEncrypt || _sendsPlain))
        {
            token.Password = secret;
            IsPlain = _mode != MessageSecurityMode.SignAndEncrypt;
        }
        else
        {
            throw new OpcUaException(
                StatusCodes.BadSecurityPolicyRejected,
                $"{_endpointUrl} accepts a password only with the policies {_offered}: unencrypted, or encrypted in a way "
                + "that the client does not support. Use a security policy with SignAndEncrypt"
                + (tokenPolicy is null ? "." : $", or set {nameof(OpcUaClientOptions.UnsafePlainPassword)} on a network that you trust."));
        }

        return token.ToExtensionObject();
    }

    // A readable key may still be unusable, for example because of an invalid exponent.
    private byte[] Encrypt(Func<byte[]> encrypt)
    {
        try
        {
            return encrypt();
        }
        catch (CryptographicException)
        {
            throw CannotEncrypt();
        }
    }

    private OpcUaException CannotEncrypt() => new(
        StatusCodes.BadCertificateInvalid, $"{_endpointUrl} sent no certificate with which the password could be encrypted.");
}
