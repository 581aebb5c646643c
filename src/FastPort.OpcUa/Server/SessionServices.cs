using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>CreateSession, ActivateSession and CloseSession (OPC 10000-4, 5.7).</summary>
internal static class SessionServices
{
    private const int NonceBytes = 32;

    public static void Create(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CreateSessionRequest request = decoder.ReadStructure<CreateSessionRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        ChannelCredentials? credentials = call.Channel.Credentials;
        if (Refuse(call.Channel, request) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        if (call.Server.Sessions.TryCreate(call.Channel, request.RequestedSessionTimeout) is not { } session)
        {
            call.Fault(StatusCodes.BadTooManySessions);
            return;
        }

        session.ClientCertificate = credentials?.PeerCertificate.ToArray();
        session.Nonce = Nonce();
        call.Channel.Attach(session);
        call.Reply(new CreateSessionResponse
        {
            SessionId = session.Id,
            AuthenticationToken = session.Token,
            RevisedSessionTimeout = session.Timeout.TotalMilliseconds,
            ServerNonce = session.Nonce,
            ServerCertificate = call.Server.Certificates?.Own.Der,
            ServerEndpoints = call.Server.DescribeEndpoints(request.EndpointUrl),
            ServerSignature = credentials is null ? default : new SignatureData
            {
                Algorithm = credentials.Policy.SignatureUri,
                Signature = credentials.SignPeer(request.ClientNonce.Span),
            },
            MaxRequestMessageSize = (uint)call.Server.Options.MaxMessageBytes,
        });
    }

    public static void Activate(in ServiceCall call, ref BinaryDecoder decoder)
    {
        ActivateSessionRequest request = decoder.ReadStructure<ActivateSessionRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        if (call.Session is not { } session)
        {
            call.Fault(StatusCodes.BadSessionIdInvalid);
            return;
        }

        // On another channel a client shows by its certificate that the session is its own (OPC 10000-4, 5.7.3).
        ChannelCredentials? credentials = call.Channel.Credentials;
        // The one before must have ended, as what the session does there belongs to another loop.
        bool isSameClient = session.Channel is null && credentials is not null && session.IsActivated
            && session.ClientCertificate is { } certificate && credentials.IsPeer(certificate);
        if (session.Channel != call.Channel && !isSameClient)
        {
            call.Fault(StatusCodes.BadSecureChannelIdInvalid);
            return;
        }

        if (credentials is not null && !credentials.VerifyPeer(session.Nonce, request.ClientSignature.Signature.Span))
        {
            call.Fault(StatusCodes.BadApplicationSignatureInvalid);
            return;
        }

        StatusCode status = UserIdentity.TryRead(call, session, request.UserIdentityToken, out string? user, out string? password);
        if (status.IsBad)
        {
            call.Fault(status);
            return;
        }

        if (user is null)
        {
            Activate(call, session, user);
            return;
        }

        _ = ActivateUserAsync(call, session, user, password!);
    }

    // Nothing awaits this: every failure becomes a response. The user is checked wherever the application does so, the rest is the loop's.
    private static async Task ActivateUserAsync(ServiceCall call, ServerSession session, string user, string password)
    {
        bool isValid = false;
        try
        {
            isValid = await call.Server.Options.ValidateUser!(user, password, call.Channel.Ended).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            ServerLog.UserCheckThrew(call.Server.Logger, e);
        }

        call.Channel.Post(() =>
        {
            if (isValid)
            {
                Activate(call, session, user);
            }
            else
            {
                if (call.Server.MayWarn())
                {
                    ServerLog.UserRefused(call.Server.Logger, call.Channel.RemoteEndPoint);
                }

                call.Fault(StatusCodes.BadUserAccessDenied);
            }
        });
    }

    private static void Activate(in ServiceCall call, ServerSession session, string? user)
    {
        session.IsActivated = true;
        session.User = user;
        session.Nonce = Nonce();
        session.LastRequest = call.Server.Time.GetTimestamp();
        call.Channel.Attach(session);
        call.Reply(new ActivateSessionResponse { ServerNonce = session.Nonce });
    }

    public static void Close(in ServiceCall call)
    {
        if (call.Session is not { } session || session.Channel != call.Channel)
        {
            call.Fault(StatusCodes.BadSessionIdInvalid);
            return;
        }

        call.Server.Sessions.Remove(session);
        call.Channel.Detach(session);
        call.Reply(default(CloseSessionResponse));
    }

    private static StatusCode? Refuse(ServerChannel channel, in CreateSessionRequest request)
    {
        if (!channel.AllowsSessions)
        {
            return StatusCodes.BadSecurityPolicyRejected;
        }

        if (channel.Credentials is not { } credentials)
        {
            return null;
        }

        return request.ClientNonce.Length < NonceBytes ? StatusCodes.BadNonceInvalid
            : !credentials.IsPeer(request.ClientCertificate.Span) ? StatusCodes.BadCertificateInvalid
            : credentials.PeerApplicationUri != request.ClientDescription.ApplicationUri ? StatusCodes.BadCertificateUriInvalid
            : null;
    }

    private static byte[] Nonce() => System.Security.Cryptography.RandomNumberGenerator.GetBytes(NonceBytes);
}
