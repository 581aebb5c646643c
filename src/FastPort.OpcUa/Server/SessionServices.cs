using FastPort.OpcUa.Encoding;
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

        if (call.Server.Sessions.TryCreate(call.Channel, request.RequestedSessionTimeout) is not { } session)
        {
            call.Fault(StatusCodes.BadTooManySessions);
            return;
        }

        call.Channel.Attach(session);
        call.Reply(new CreateSessionResponse
        {
            SessionId = session.Id,
            AuthenticationToken = session.Token,
            RevisedSessionTimeout = session.Timeout.TotalMilliseconds,
            ServerNonce = Nonce(),
            ServerEndpoints = call.Server.DescribeEndpoints(request.EndpointUrl),
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

        // Without certificates nobody can show on another channel that the session is his (OPC 10000-4, 5.7.3).
        if (session.Channel != call.Channel)
        {
            call.Fault(StatusCodes.BadSecureChannelIdInvalid);
            return;
        }

        bool isAnonymous = request.UserIdentityToken is null
            || request.UserIdentityToken.TypeId.NodeId == new NodeId(0, AnonymousIdentityToken.EncodingId);
        if (!isAnonymous)
        {
            call.Fault(StatusCodes.BadIdentityTokenRejected);
            return;
        }

        session.IsActivated = true;
        session.LastRequest = call.Server.Time.GetTimestamp();
        call.Channel.Attach(session);
        call.Reply(new ActivateSessionResponse { ServerNonce = Nonce() });
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

    private static byte[] Nonce() => System.Security.Cryptography.RandomNumberGenerator.GetBytes(NonceBytes);
}
