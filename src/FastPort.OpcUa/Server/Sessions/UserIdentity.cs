using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>Reads the user from an identity token (OPC 10000-4, 7.41).</summary>
internal static class UserIdentity
{
    /// <summary>The policy of clients without a user.</summary>
    public const string Anonymous = "anonymous";

    /// <summary>The policy of users with name and password.</summary>
    public const string UserName = "username";

    /// <summary>Reads name and password; null for anonymous.</summary>
    public static StatusCode TryRead(
        in ServiceCall call, ServerSession session, ExtensionObject? token, out string? user, out string? password)
    {
        (user, password) = (null, null);
        OpcUaServerOptions options = call.Server.Options;
        NodeId type = token?.TypeId.NodeId ?? NodeId.Null;
        if (type.IsNull || type == new NodeId(0, AnonymousIdentityToken.EncodingId))
        {
            return options.AllowAnonymous ? StatusCodes.Good : StatusCodes.BadIdentityTokenRejected;
        }

        if (type != new NodeId(0, UserNameIdentityToken.EncodingId) || options.ValidateUser is null)
        {
            return StatusCodes.BadIdentityTokenRejected;
        }

        var decoder = new BinaryDecoder(token!.Body.Span, EncodingLimits.Default);
        UserNameIdentityToken name = decoder.ReadStructure<UserNameIdentityToken>();
        if (!decoder.Error.IsGood || name.PolicyId != UserName || name.UserName is not { Length: > 0 })
        {
            return StatusCodes.BadIdentityTokenInvalid;
        }

        if (!TryReadPassword(call, session, name, out byte[] secret))
        {
            return StatusCodes.BadIdentityTokenInvalid;
        }

        (user, password) = (name.UserName, System.Text.Encoding.UTF8.GetString(secret));
        return StatusCodes.Good;
    }

    // Without encryption of its own only on an encrypted channel.
    private static bool TryReadPassword(in ServiceCall call, ServerSession session, in UserNameIdentityToken token, out byte[] secret)
    {
        if (string.IsNullOrEmpty(token.EncryptionAlgorithm))
        {
            secret = token.Password.ToArray() ?? [];
            return call.Channel.SecurityMode == MessageSecurityMode.SignAndEncrypt;
        }

        secret = [];
        return SecurityPolicy.FindEncryption(token.EncryptionAlgorithm) is { } policy
            && call.Server.Certificates is { } certificates
            && EncryptedSecret.TryDecrypt(policy, certificates.Own.PrivateKey, token.Password.Span, session.Nonce, out secret);
    }
}
