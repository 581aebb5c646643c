using System.Security.Cryptography;
using FastPort.Connections;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>Connects: opens a channel, and activates the previous session or a new one on it. Used by one task at a time.</summary>
internal sealed class SessionOpener(string endpointUrl, OpcUaClientOptions options, ConnectionClock clock, ILogger logger) : IDisposable
{
    private readonly OperationLimits _limits = new(endpointUrl, logger);
    private readonly ChannelOpener _channels = new(endpointUrl, options, clock, logger);

    // The last session that the server has created, unless it was closed since. It is resumed even if the client could not use it, so that
    // no attempt leaves a session behind.
    private ClientSession? _session;

    /// <summary>Connects with the previous session. A new one is created if there is none, or the server has lost it.</summary>
    /// <param name="cancellationToken">Cancels the call.</param>
    public async Task<SessionLink> OpenAsync(CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(options.ConnectTimeout, clock.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, limit.Token);
        try
        {
            return await OpenWithinAsync(both.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException e) when (!cancellationToken.IsCancellationRequested)
        {
            throw new OpcUaException(
                StatusCodes.BadTimeout, $"{endpointUrl} gave no session within {options.ConnectTimeout.TotalSeconds} s.", e);
        }
    }

    public void Dispose() => _channels.Dispose();

    private async Task<SessionLink> OpenWithinAsync(CancellationToken cancellationToken)
    {
        ClientChannelLink channel = await _channels.OpenAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (_session is null || !await TryResumeAsync(channel, _session, cancellationToken).ConfigureAwait(false))
            {
                _session = await CreateAsync(channel.Channel, cancellationToken).ConfigureAwait(false);
                await ActivateNewAsync(channel.Channel, _session, cancellationToken).ConfigureAwait(false);
            }

            var link = new SessionLink(endpointUrl, channel, _session, _limits);
            await link.ReadServerAsync(cancellationToken).ConfigureAwait(false);
            return link;
        }
        catch
        {
            channel.Connection.Abort(CloseReason.LocalClosed);
            throw;
        }
    }

    // If the server refuses the old session, or the user's data does not match the server's former certificate, a new session is the
    // answer; if no answer came, the connection has ended.
    private async Task<bool> TryResumeAsync(ClientChannelLink channel, ClientSession session, CancellationToken cancellationToken)
    {
        UserToken user;
        try
        {
            user = MakeUserToken(channel.Channel, session);
        }
        catch (OpcUaException)
        {
            return false;
        }

        ServiceResult<ActivateSessionResponse> result =
            await ActivateAsync(channel.Channel, session, user, cancellationToken).ConfigureAwait(false);
        if (result.Fate != RequestFate.Answered)
        {
            throw ServiceFailure.Create(result.Status, "ActivateSession", endpointUrl, result.Fate);
        }

        return result.Status.IsGood;
    }

    // A session that is not activated, for example because of a wrong password, is closed: the next attempt does not need it. If the server
    // does not confirm that, the next attempt resumes it.
    private async Task ActivateNewAsync(ClientChannel channel, ClientSession session, CancellationToken cancellationToken)
    {
        try
        {
            UserToken user = MakeUserToken(channel, session);
            ServiceResult<ActivateSessionResponse> result =
                await ActivateAsync(channel, session, user, cancellationToken).ConfigureAwait(false);
            if (result.Fate == RequestFate.Answered && result.Status.IsBad && (user.NotAccepted ?? AdviceOn(result.Status)) is { } why)
            {
                throw new OpcUaException(result.Status, $"ActivateSession of {endpointUrl} failed: {result.Status}. {why}");
            }

            ServiceFailure.Check(result, "ActivateSession", endpointUrl);
        }
        catch (Exception e) when (e is not (OperationCanceledException or OpcUaException { MayHaveExecuted: true }))
        {
            if (await TryCloseAsync(channel, session, cancellationToken).ConfigureAwait(false))
            {
                _session = null;
            }

            throw;
        }
    }

    // Null for none.
    private string? AdviceOn(StatusCode status) =>
        options.UserName is { } name && (status == StatusCodes.BadUserAccessDenied || status == StatusCodes.BadIdentityTokenInvalid
            || status == StatusCodes.BadIdentityTokenRejected)
            ? $"The server refuses the user '{name}': correct {nameof(options.UserName)} and {nameof(options.Password)}."
            : null;

    private static async Task<bool> TryCloseAsync(ClientChannel channel, ClientSession session, CancellationToken cancellationToken)
    {
        try
        {
            ServiceResult<CloseSessionResponse> result = await channel.SendAsync(
                session.Token,
                new CloseSessionRequest { DeleteSubscriptions = true },
                new Stack<PendingRequest<CloseSessionResponse>>(),
                cancellationToken).ConfigureAwait(false);
            return result.Fate == RequestFate.Answered;
        }
        catch (OperationCanceledException)
        {
            // The caller gets the reason why it was not activated.
            return false;
        }
    }

    private async Task<ClientSession> CreateAsync(ClientChannel channel, CancellationToken cancellationToken)
    {
        ChannelCredentials? credentials = channel.Credentials;
        byte[] nonce = ChannelCredentials.CreateNonce();
        ServiceResult<CreateSessionResponse> result = await channel.SendAsync(
            NodeId.Null,
            new CreateSessionRequest
            {
                ClientDescription = new ApplicationDescription
                {
                    ApplicationUri = _channels.ApplicationUri,
                    ProductUri = "urn:fastport:opcua",
                    ApplicationName = options.ApplicationName,
                    ApplicationType = ApplicationType.Client,
                },
                EndpointUrl = channel.EndpointUrl,
                // Servers list sessions by name, so each session requests a unique name (OPC 10000-4, 5.7.2).
                SessionName = $"{options.ApplicationName} {RandomNumberGenerator.GetHexString(8, lowercase: true)}",
                ClientNonce = nonce,
                ClientCertificate = credentials?.OwnCertificate,
                RequestedSessionTimeout = options.SessionTimeout.TotalMilliseconds,
                MaxResponseMessageSize = (uint)options.MaxMessageBytes,
            },
            new Stack<PendingRequest<CreateSessionResponse>>(),
            cancellationToken).ConfigureAwait(false);
        if (credentials is not null && result.Status == StatusCodes.BadCertificateUriInvalid)
        {
            throw new OpcUaException(
                result.Status,
                $"CreateSession of {endpointUrl} failed: {result.Status}. The client says that it is {_channels.ApplicationUri}, and its "
                + $"certificate is for {credentials.OwnApplicationUri ?? "no application"}. {CertificateStore.HowToAgree}.");
        }

        CreateSessionResponse created = ServiceFailure.Check(result, "CreateSession", endpointUrl);
        if (credentials is not null
            && !(credentials.IsPeer(created.ServerCertificate.Span)
                && credentials.VerifyPeer(nonce, created.ServerSignature.Signature.Span)))
        {
            throw ServiceFailure.Create(StatusCodes.BadApplicationSignatureInvalid, "CreateSession", endpointUrl);
        }

        EndpointDescription[] others = await FindMissingAsync(channel, created, cancellationToken).ConfigureAwait(false);
        return new ClientSession(created, [.. created.ServerEndpoints ?? [], .. others]);
    }

    // If the response lacks details of the endpoint, such as its accepted users and the certificate that encrypts their passwords,
    // GetEndpoints has them. A server that does not answer it may not need them.
    private async Task<EndpointDescription[]> FindMissingAsync(
        ClientChannel channel, CreateSessionResponse created, CancellationToken cancellationToken)
    {
        EndpointDescription[] told = created.ServerEndpoints ?? [];
        (SecurityPolicy policy, MessageSecurityMode mode) = KindOf(channel);
        bool namesUsers = EndpointList.Of(told, policy, mode).Any(static one => one.UserIdentityTokens is { Length: > 0 });
        bool hasCertificate = created.ServerCertificate.Length != 0 || EndpointList.CertificateIn(told).Length != 0;
        if (namesUsers && (hasCertificate || (options.UserName is null && options.UserCertificate is null)))
        {
            return [];
        }

        ServiceResult<GetEndpointsResponse> result = await channel.SendAsync(
            NodeId.Null,
            new GetEndpointsRequest { EndpointUrl = channel.EndpointUrl },
            new Stack<PendingRequest<GetEndpointsResponse>>(),
            cancellationToken).ConfigureAwait(false);
        return result.Status.IsGood ? result.Response.Endpoints ?? [] : [];
    }

    private (SecurityPolicy Policy, MessageSecurityMode Mode) KindOf(ClientChannel channel) => channel.Credentials is { } credentials
        ? (credentials.Policy, options.SecurityMode)
        : (SecurityPolicy.None, MessageSecurityMode.None);

    private UserToken MakeUserToken(ClientChannel channel, ClientSession session)
    {
        (SecurityPolicy policy, MessageSecurityMode mode) = KindOf(channel);
        return new UserToken(endpointUrl, options, policy, mode, session, policy.IsNone ? _channels.CheckTrust : null);
    }

    private async Task<ServiceResult<ActivateSessionResponse>> ActivateAsync(
        ClientChannel channel, ClientSession session, UserToken user, CancellationToken cancellationToken)
    {
        if (user.IsPlain)
        {
            ClientLog.PasswordInClear(logger, endpointUrl);
        }

        ServiceResult<ActivateSessionResponse> result =
            await SendActivateAsync(channel, session, user, user.Encoded, cancellationToken).ConfigureAwait(false);
        return result.Status == StatusCodes.BadIdentityTokenInvalid && user.Legacy is { } legacy
            ? await SendActivateAsync(channel, session, user, legacy, cancellationToken).ConfigureAwait(false)
            : result;
    }

    private static async Task<ServiceResult<ActivateSessionResponse>> SendActivateAsync(
        ClientChannel channel, ClientSession session, UserToken user, ExtensionObject token, CancellationToken cancellationToken)
    {
        ChannelCredentials? credentials = channel.Credentials;
        ServiceResult<ActivateSessionResponse> result = await channel.SendAsync(
            session.Token,
            new ActivateSessionRequest
            {
                ClientSignature = credentials is null ? default : new SignatureData
                {
                    Algorithm = credentials.Policy.SignatureUri,
                    Signature = credentials.SignPeer(session.ServerNonce.Span),
                },
                UserIdentityToken = token,
                UserTokenSignature = user.Signature,
            },
            new Stack<PendingRequest<ActivateSessionResponse>>(),
            cancellationToken).ConfigureAwait(false);
        if (result.Status.IsGood)
        {
            session.ServerNonce = result.Response.ServerNonce;
        }

        return result;
    }
}
