using System.Security.Claims;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>CreateSession, ActivateSession and CloseSession (OPC 10000-4, 5.7).</summary>
internal static class SessionServices
{
    private const int NonceBytes = ChannelCredentials.NonceBytes;
    private const string Banned = "the user is banned";

    public static void Create(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CreateSessionRequest request = decoder.ReadStructure<CreateSessionRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        ChannelCredentials? credentials = call.Channel.Credentials;
        if (Refuse(call, request) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        if (call.Server.Sessions.TryCreate(call.Channel, request.RequestedSessionTimeout) is not { } session)
        {
            call.Fault(StatusCodes.BadTooManySessions);
            return;
        }

        call.Channel.Attach(session);
        ServiceCall creating = call;
        SignatureData signature = default;
        RunAside(
            call,
            () => signature = credentials is null ? default : new SignatureData
            {
                Algorithm = credentials.Policy.SignatureUri,
                Signature = credentials.SignPeer(request.ClientNonce.Span),
            },
            () => creating.Reply(new CreateSessionResponse
            {
                SessionId = session.Id,
                AuthenticationToken = session.Token,
                RevisedSessionTimeout = session.Timeout.TotalMilliseconds,
                ServerNonce = session.Nonce,
                ServerCertificate = creating.Server.Certificates?.Own.Der,
                ServerEndpoints = creating.Server.DescribeEndpoints(creating.Channel.UrlFor(request.EndpointUrl)),
                ServerSignature = signature,
                MaxRequestMessageSize = (uint)creating.Server.Options.MaxMessageBytes,
            }));
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

        // On another channel, a client proves by its certificate that it owns the session (OPC 10000-4, 5.7.3); without security by the
        // session's secret token alone.
        ChannelCredentials? credentials = call.Channel.Credentials;
        bool isSameClient = session.ClientCertificate is { } certificate
            ? credentials is not null && credentials.IsPeer(certificate)
            : credentials is null;
        if (session.Channel != call.Channel && (!isSameClient || !call.Channel.AllowsSessions))
        {
            call.Fault(StatusCodes.BadSecureChannelIdInvalid);
            return;
        }

        if (call.Channel.IsCheckingUser)
        {
            // Checks take many times longer than requests: without a limit, one client's would delay all others' for minutes.
            call.Fault(StatusCodes.BadTooManyOperations);
            return;
        }

        ServiceCall activating = call;
        byte[] nonce = session.Nonce;
        StatusCode status = default;
        UserIdentity? user = null;
        UserTokens.UserCheck? check = null;
        RunAside(
            call,
            () => status = credentials?.VerifyPeer(nonce, request.ClientSignature.Signature.Span) == false
                ? StatusCodes.BadApplicationSignatureInvalid
                : UserTokens.TryRead(activating, nonce, request, out user, out check),
            () =>
            {
                if (status.IsBad)
                {
                    RefuseUser(activating, status, status.ToString());
                }
                else if (check is null)
                {
                    Activate(activating, session, user, identity: null);
                }
                else
                {
                    _ = ActivateUserAsync(activating, session, user, check);
                }
            });
    }

    // Signatures and passwords need RSA, which must not run on the loop. A server without a certificate has none of them.
    private static void RunAside(in ServiceCall call, Action step, Action then)
    {
        if (call.Server.Certificates is null)
        {
            step();
            then();
            return;
        }

        call.Channel.RunAside(
            () =>
            {
                step();
                return null;
            },
            then);
    }

    // Nothing awaits this: every failure becomes a response. The user is checked on the application's thread, the rest runs on the loop.
    private static async Task ActivateUserAsync(
        ServiceCall call, ServerSession session, UserIdentity? user, UserTokens.UserCheck check)
    {
        ClaimsPrincipal? identity = null;
        string reason = user?.Name is not null ? "the name or the password is wrong" : "the application does not accept the certificate";
        call.Channel.IsCheckingUser = true;
        try
        {
            identity = await BeginAsideAsync(check, call.Channel.Ended).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            ServerLog.UserCheckThrew(call.Server.Logger, e);
            reason = "the check of the user threw";
        }

        call.Channel.Post(() =>
        {
            call.Channel.IsCheckingUser = false;
            if (identity is null)
            {
                RefuseUser(call, StatusCodes.BadUserAccessDenied, reason);
            }
            else if (call.Server.IsBanned(identity))
            {
                RefuseUser(call, StatusCodes.BadUserAccessDenied, Banned);
            }
            else
            {
                Activate(call, session, user, identity);
            }
        });
    }

    // The client gets less detail than the log.
    private static void RefuseUser(in ServiceCall call, StatusCode status, string reason)
    {
        if (call.Server.MayWarnOfUser())
        {
            ServerLog.UserRefused(call.Server.Logger, call.Channel.RemoteEndPoint, reason);
        }

        call.Fault(status);
    }

    // Hashing a password is slow by design, and strangers can trigger it: the loop must not wait until the application returns a task. A
    // waiting check ends with its connection.
    private static async Task<ClaimsPrincipal?> BeginAsideAsync(UserTokens.UserCheck check, CancellationToken ended)
    {
        var begun = new TaskCompletionSource<Task<ClaimsPrincipal?>>(TaskCreationOptions.RunContinuationsAsynchronously);
        LinkedListNode<Action>? place = AsideWork.Users.Run(() =>
        {
            try
            {
                begun.SetResult(ended.IsCancellationRequested ? Task.FromResult<ClaimsPrincipal?>(null) : check(ended).AsTask());
            }
            catch (Exception e)
            {
                begun.SetException(e);
            }
        });
        using CancellationTokenRegistration gone = place is null ? default : ended.UnsafeRegister(
            _ =>
            {
                if (AsideWork.Users.TryTakeBack(place))
                {
                    begun.SetResult(Task.FromResult<ClaimsPrincipal?>(null));
                }
            },
            null);
        Task<ClaimsPrincipal?> checking = await begun.Task.ConfigureAwait(false);
        return await checking.ConfigureAwait(false);
    }

    private static void Activate(in ServiceCall call, ServerSession session, UserIdentity? user, ClaimsPrincipal? identity)
    {
        long now = call.Server.Sessions.Clock.PreciseMilliseconds;
        StatusCode status = session.Activate(call.Channel, user, identity, now, out byte[] nonce);
        if (status.IsBad)
        {
            call.Fault(status);
            return;
        }

        // Once more: a ban that was added in the meantime has missed this user, or finds it now.
        if (call.Server.IsBanned(identity))
        {
            session.End(deletesSubscriptions: true);
            RefuseUser(call, StatusCodes.BadUserAccessDenied, Banned);
            return;
        }

        call.Reply(new ActivateSessionResponse { ServerNonce = nonce });
    }

    public static void Close(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CloseSessionRequest request = decoder.ReadStructure<CloseSessionRequest>();
        if (call.Session is not { } session || session.Channel != call.Channel)
        {
            call.Fault(StatusCodes.BadSessionIdInvalid);
            return;
        }

        session.End(deletesSubscriptions: !decoder.Error.IsGood || request.DeleteSubscriptions);
        call.Reply(default(CloseSessionResponse));
    }

    /// <summary>Ends Publish requests that wait, and method calls that heed it (OPC 10000-4, 5.7.5); under the session's gate.</summary>
    public static void Cancel(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CancelRequest request = decoder.ReadStructure<CancelRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        uint handle = request.RequestHandle;
        int canceled = call.Session!.Subscriptions.DropRequests(StatusCodes.BadRequestCancelledByClient, handle);
        foreach (RunningCall running in call.Session.Calls)
        {
            if (running.RequestHandle == handle)
            {
                canceled++;

                // Asynchronously: the loop must not run the methods' callbacks.
                running.Cancel();
            }
        }

        call.Reply(new CancelResponse { CancelCount = (uint)canceled });
    }

    private static StatusCode? Refuse(in ServiceCall call, in CreateSessionRequest request)
    {
        if (!call.Channel.AllowsSessions)
        {
            return StatusCodes.BadSecurityPolicyRejected;
        }

        if (call.Channel.Credentials is not { } credentials)
        {
            return null;
        }

        return request.ClientNonce.Length < NonceBytes ? StatusCodes.BadNonceInvalid
            : !credentials.IsPeer(request.ClientCertificate.Span) ? StatusCodes.BadCertificateInvalid
            : credentials.PeerApplicationUri is { } uri && uri == request.ClientDescription.ApplicationUri ? null
            : RefuseUri(call, credentials, request.ClientDescription.ApplicationUri);
    }

    // Unless every certificate is accepted.
    private static StatusCode? RefuseUri(in ServiceCall call, ChannelCredentials credentials, string? applicationUri)
    {
        OpcUaServer server = call.Server;
        bool isAccepted = server.Options.Certificates.UnsafeTrustAll;
        if (server.MayWarn())
        {
            if (isAccepted)
            {
                server.Certificates!.TellUri(credentials.Peer, applicationUri);
            }
            else
            {
                ServerLog.ClientUriRefused(
                    server.Logger, call.Channel.RemoteEndPoint, CertificateStore.DescribeUris(credentials.Peer, applicationUri));
            }
        }

        return isAccepted ? null : StatusCodes.BadCertificateUriInvalid;
    }
}
