using System.Buffers;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>Makes the identity token of the client's user (OPC 10000-4, 7.41).</summary>
internal static class UserToken
{
    /// <summary>Makes the token.</summary>
    /// <param name="endpointUrl">For messages.</param>
    /// <param name="options">The client's options with the user.</param>
    /// <param name="channelPolicy">The policy of the channel.</param>
    /// <param name="mode">The mode of the channel.</param>
    /// <param name="policies">What the endpoint accepts.</param>
    /// <param name="session">The session, with the server's certificate and nonce.</param>
    /// <exception cref="OpcUaException">The endpoint accepts no such user, or the password would be sent in the clear.</exception>
    public static ExtensionObject Create(
        string endpointUrl,
        OpcUaClientOptions options,
        SecurityPolicy channelPolicy,
        MessageSecurityMode mode,
        UserTokenPolicy[] policies,
        in CreateSessionResponse session)
    {
        UserTokenType type = options.UserName is null ? UserTokenType.Anonymous : UserTokenType.UserName;
        UserTokenPolicy policy = Array.Find(policies, one => one.TokenType == type);
        if (options.UserName is null)
        {
            return Encode(new AnonymousIdentityToken { PolicyId = policy.PolicyId });
        }

        if (policy.PolicyId is null)
        {
            throw new OpcUaException(StatusCodes.BadIdentityTokenRejected, $"{endpointUrl} accepts no user names on this kind of channel.");
        }

        byte[] secret = System.Text.Encoding.UTF8.GetBytes(options.Password);
        SecurityPolicy? tokenPolicy = string.IsNullOrEmpty(policy.SecurityPolicyUri)
            ? channelPolicy
            : SecurityPolicy.Find(policy.SecurityPolicyUri);
        var token = new UserNameIdentityToken { PolicyId = policy.PolicyId, UserName = options.UserName };
        if (tokenPolicy is { IsNone: false })
        {
            using X509Certificate2? certificate = CertificateStore.TryReadLeaf(session.ServerCertificate.Span);
            using RSA? key = certificate?.GetRSAPublicKey();
            token.Password = key is null
                ? throw new OpcUaException(
                    StatusCodes.BadCertificateInvalid, $"{endpointUrl} sent no certificate that the password could be encrypted with.")
                : EncryptedSecret.Encrypt(tokenPolicy, key, secret, session.ServerNonce.Span);
            token.EncryptionAlgorithm = tokenPolicy.EncryptionUri;
        }
        else if (mode == MessageSecurityMode.SignAndEncrypt && tokenPolicy is not null)
        {
            token.Password = secret;
        }
        else
        {
            throw new OpcUaException(
                StatusCodes.BadSecurityPolicyRejected,
                $"{endpointUrl} asks for the password in the clear. Use a security policy with SignAndEncrypt.");
        }

        return Encode(token);
    }

    private static ExtensionObject Encode<T>(in T token)
        where T : struct, IServiceMessage
    {
        using var buffer = new MessageBuffer(ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(token);
        encoder.Complete();
        return new ExtensionObject(new NodeId(0, T.EncodingId), ExtensionObjectEncoding.Binary, buffer.Written.ToArray());
    }
}
