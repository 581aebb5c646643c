using System.Net;
using System.Security.Claims;
using System.Security.Cryptography;
using System.Text.Unicode;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Reads the identity tokens of users (OPC 10000-4, 7.41), and passes them to the application. A token without proof is refused before.
/// </summary>
internal static class UserTokens
{
    // Policies that an endpoint can offer (OPC 10000-4, 7.42).
    private const string Anonymous = "anonymous";
    private const string UserName = "username";
    private const string Certificate = "certificate";

    // Characters of a name, and bytes of a password: waiting checks are not in a memory budget.
    private const int MaxTextLength = 4096;

    // Checking a signature with a larger key takes long.
    private const int MinKeyBits = 2048;
    private const int MaxKeyBits = 4096;

    /// <summary>Finds the identity of a user; null if it is refused. Completes on any thread.</summary>
    public delegate ValueTask<ClaimsPrincipal?> UserCheck(CancellationToken cancellationToken);

    /// <summary>The user token policies of a policy's endpoints.</summary>
    public static UserTokenPolicy[] Describe(OpcUaServer server, OpcUaSecurityPolicy policy)
    {
        // Without security, a password is still encrypted, and a user's proof signed.
        string? uri = policy == OpcUaSecurityPolicy.None ? SecurityPolicy.Basic256Sha256.Uri : null;
        List<UserTokenPolicy> policies = [];
        if (server.Options.AllowAnonymous)
        {
            policies.Add(new UserTokenPolicy { PolicyId = Anonymous, TokenType = UserTokenType.Anonymous });
        }

        if (server.Users.HasNames)
        {
            policies.Add(new UserTokenPolicy { PolicyId = UserName, TokenType = UserTokenType.UserName, SecurityPolicyUri = uri });
        }

        if (server.Users.HasCertificates)
        {
            policies.Add(new UserTokenPolicy { PolicyId = Certificate, TokenType = UserTokenType.Certificate, SecurityPolicyUri = uri });
        }

        return [.. policies];
    }

    /// <summary>Reads the user of a request. Both are null for anonymous.</summary>
    public static StatusCode TryRead(
        in ServiceCall call, byte[] nonce, in ActivateSessionRequest request, out UserIdentity? user, out UserCheck? check)
    {
        (user, check) = (null, null);
        IOpcUaUsers users = call.Server.Users;
        ExtensionObject? token = request.UserIdentityToken;
        NodeId type = token?.TypeId.NodeId ?? NodeId.Null;
        if (type.IsNull || type == new NodeId(0, AnonymousIdentityToken.EncodingId))
        {
            return call.Server.Options.AllowAnonymous ? StatusCodes.Good : StatusCodes.BadIdentityTokenInvalid;
        }

        if (type == new NodeId(0, UserNameIdentityToken.EncodingId) && users.HasNames)
        {
            return TryReadName(call, nonce, token!, out user, out check);
        }

        if (type == new NodeId(0, X509IdentityToken.EncodingId) && users.HasCertificates)
        {
            return TryReadCertificate(call, nonce, token!, request.UserTokenSignature, out user, out check);
        }

        return StatusCodes.BadIdentityTokenInvalid;
    }

    private static StatusCode TryReadName(
        in ServiceCall call, byte[] nonce, ExtensionObject token, out UserIdentity? user, out UserCheck? check)
    {
        (user, check) = (null, null);
        var decoder = new BinaryDecoder(token.Body.Span, EncodingLimits.Default);
        UserNameIdentityToken name = decoder.ReadStructure<UserNameIdentityToken>();
        if (!decoder.Error.IsGood || name.PolicyId != UserName || name.UserName is not { Length: > 0 and <= MaxTextLength }
            || !TryReadPassword(call, nonce, name, out byte[] secret) || !Utf8.IsValid(secret))
        {
            // Bytes that are not text may be encrypted for another recipient: the application must not see them as the password.
            return StatusCodes.BadIdentityTokenInvalid;
        }

        string password = System.Text.Encoding.UTF8.GetString(secret);
        user = new UserIdentity(name.UserName, Certificate: null);
        (IOpcUaUsers users, EndPoint? peer) = (call.Server.Users, call.Channel.RemoteEndPoint);
        check = cancellationToken => users.FindAsync(name.UserName, password, peer, cancellationToken);
        return StatusCodes.Good;
    }

    // In one of two formats, one of which names the algorithm. Some clients omit it in the other format too: they use the policy's. An
    // unencrypted token is accepted only on an encrypted channel.
    private static bool TryReadPassword(in ServiceCall call, byte[] nonce, in UserNameIdentityToken token, out byte[] secret)
    {
        ReadOnlySpan<byte> sent = token.Password.Span;
        if (call.Server.Certificates?.Own.PrivateKey is not { } key)
        {
            secret = [];
            return false;
        }

        if (RsaEncryptedSecret.IsFormatOf(sent))
        {
            return RsaEncryptedSecret.TryDecrypt(key, sent, nonce, MaxTextLength, out secret);
        }

        bool isNamed = !string.IsNullOrEmpty(token.EncryptionAlgorithm);
        SecurityPolicy? policy = isNamed ? SecurityPolicy.FindEncryption(token.EncryptionAlgorithm) : TokenPolicy(call);
        if (policy is not null && EncryptedSecret.TryDecrypt(policy, key, sent, nonce, MaxTextLength, out secret))
        {
            return true;
        }

        secret = sent.ToArray();
        return !isNamed && call.Channel.SecurityMode == MessageSecurityMode.SignAndEncrypt && secret.Length <= MaxTextLength;
    }

    // As Describe has offered it.
    private static SecurityPolicy TokenPolicy(in ServiceCall call) =>
        call.Channel.Credentials?.Policy ?? SecurityPolicy.Basic256Sha256;

    // The user has signed the server's certificate and nonce, so it has the key (OPC 10000-4, 7.41.5).
    private static StatusCode TryReadCertificate(
        in ServiceCall call, byte[] nonce, ExtensionObject token, in SignatureData signature,
        out UserIdentity? user, out UserCheck? check)
    {
        (user, check) = (null, null);
        var decoder = new BinaryDecoder(token.Body.Span, EncodingLimits.Default);
        X509IdentityToken x509 = decoder.ReadStructure<X509IdentityToken>();
        if (!decoder.Error.IsGood || x509.PolicyId != Certificate
            || CertificateStore.TryReadLeaf(x509.CertificateData.Span) is not { } certificate)
        {
            return StatusCodes.BadIdentityTokenInvalid;
        }

        DateTime now = call.Server.Time.GetUtcNow().UtcDateTime;
        SecurityPolicy policy = TokenPolicy(call);
        using RSA? key = CertificateStore.TryGetKey(certificate);
        StatusCode status = key is not { KeySize: >= MinKeyBits and <= MaxKeyBits } ? StatusCodes.BadIdentityTokenInvalid
            : signature.Algorithm != policy.SignatureUri || !key.VerifyData(
                [.. call.Server.Certificates!.Own.Der, .. nonce], signature.Signature.Span, HashAlgorithmName.SHA256, policy.Signature)
                ? StatusCodes.BadUserSignatureInvalid
            : now < certificate.NotBefore.ToUniversalTime() || now > certificate.NotAfter.ToUniversalTime()
                ? StatusCodes.BadIdentityTokenRejected
            : StatusCodes.Good;
        if (!status.IsGood)
        {
            certificate.Dispose();
            return status;
        }

        user = new UserIdentity(Name: null, certificate.GetCertHashString(HashAlgorithmName.SHA256));
        (IOpcUaUsers users, EndPoint? peer) = (call.Server.Users, call.Channel.RemoteEndPoint);
        check = async cancellationToken =>
        {
            using (certificate)
            {
                return await users.FindAsync(certificate, peer, cancellationToken).ConfigureAwait(false);
            }
        };
        return StatusCodes.Good;
    }
}
