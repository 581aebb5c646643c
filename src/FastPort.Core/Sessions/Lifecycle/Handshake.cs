using System.Buffers;
using System.Diagnostics;
using FastPort.Framing;
using FastPort.Limits;
using FastPort.Logging;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Lifecycle;

/// <summary>The outcome of a Hello.</summary>
internal enum HelloOutcome
{
    /// <summary>The authenticator or the directory of routing ids has not answered; the frame stays in the ring.</summary>
    Awaited,

    /// <summary>The peer was answered with an error. It may try again, unless the connection is closing.</summary>
    Refused,

    /// <summary>The peer was answered with Welcome.</summary>
    Welcomed,
}

/// <summary>
/// The accepting side's answer to Hello: authentication, routing id, Welcome. Runs on the loop. Until the authenticator answers, reading is
/// paused and the Hello frame stays in the ring; the loop then handles it again.
/// </summary>
internal sealed class Handshake(HandshakeSettings handshake, SessionSettings settings, Session session, FrameOutput output)
{
    /// <summary>The frame limit in bytes until Hello, if Hello is required.</summary>
    public const int MaxHelloBytes = 16 * 1024;

    // Hellos that a peer may send again before it is disconnected: each costs a call of the authenticator.
    private const int MaxFailures = 8;

    private readonly PendingDecision<AuthenticationResult?>? _verdict =
        handshake.Authenticator is null ? null : new(settings, session, "authenticator");

    // Null if there is no directory.
    private readonly IdClaiming? _claiming = handshake.Claims is null ? null : new IdClaiming(handshake.Claims, settings, session);
    private int _failures;

    // The time for the Hello has passed while a component was asked about it: the reason to close after the answer to the Hello.
    private CloseReason? _timedOut;

    public bool IsRequired => handshake.IsRequired;

    /// <summary>Whether only a Hello is accepted now.</summary>
    public bool AwaitsHello { get; private set; } = handshake.IsRequired;

    /// <summary>
    /// The extensions that the answer to the Hello has agreed on, as bits of <see cref="Extensions"/>: in force from the next frame on.
    /// </summary>
    public uint Agreed { get; private set; }

    /// <summary>When the welcomed peer's identity ends; null for never.</summary>
    public DateTimeOffset? IdentityEndsAt { get; private set; }

    /// <summary>The session's rates; null if it has none.</summary>
    public SessionRates? Rates { private get; set; }

    /// <summary>Handles a Hello. After Welcomed the caller opens the session, and calls <see cref="EnterIdentity()"/>.</summary>
    public HelloOutcome OnHello(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        Debug.Assert(session.Connection.IsOnLoop);
        if (session.IsIdentified)
        {
            output.Refuse(header, received, ErrorCode.MalformedBody, "Hello was received already; a session sends it once.");
            return HelloOutcome.Refused;
        }

        if (!HelloBody.TryRead(body.IsSingleSegment ? body.FirstSpan : body.ToArray(), out HelloBody hello))
        {
            output.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Hello message.");
            return HelloOutcome.Refused;
        }

        bool isNamed = RoutingIdLimits.IsName(hello.ClientName);
        if (!isNamed || !RoutingIdLimits.IsName(hello.RoutingId))
        {
            // Subscribers of HelloRefused put the client's name into logs.
            Fail(
                header, isNamed ? hello : hello with { ClientName = string.Empty }, received, ErrorCode.MalformedBody,
                $"routing_id and client_name have {RoutingIdLimits.Name}.");
            return HelloOutcome.Refused;
        }

        if (hello.RoutingId.StartsWith(RoutingIdLimits.ReservedMark))
        {
            Fail(
                header, hello, received, ErrorCode.MalformedBody,
                $"routing_id begins with '{RoutingIdLimits.ReservedMark}', which is reserved for the server; choose another id.");
            return HelloOutcome.Refused;
        }

        if (_claiming?.IsAsked == true)
        {
            return WelcomeIfGranted(header, hello, received, _claiming);
        }

        AuthenticationResult? result = AuthenticationResult.Accept();
        if (_verdict is not null)
        {
            switch (Authenticate(hello, out result))
            {
                case DecisionState.Awaited:
                    return HelloOutcome.Awaited;
                case DecisionState.GivenUp:
                    result = null;
                    break;
            }
        }

        if (result is null)
        {
            Fail(header, hello, received, ErrorCode.Unavailable, "Authentication is not available now; try again later.");
            return HelloOutcome.Refused;
        }

        if (result.ExpiresAt <= settings.Clock.Time.GetUtcNow())
        {
            result = AuthenticationResult.Refuse("The token has expired.");
        }

        if (!result.IsAccepted)
        {
            // The authenticator's message may quote the peer.
            Refused(hello, ErrorCode.Unauthenticated, result.Message);
            string shown = PeerText.Escape(result.Message);
            SessionLog.HelloRefused(settings.Logger, session, shown);
            output.RefuseUnauthenticated(
                header, received, new CloseReason(CloseKind.Unauthenticated, shown), result.Message);
            return HelloOutcome.Refused;
        }

        // Set before the ban is looked up: a ban that is added meanwhile finds either this Hello or this user.
        session.User = result.User;

        // A full fence, as of the ban's side (ConnectionServer.CloseBanned), which lists the ban before it looks at the users.
        Interlocked.MemoryBarrier();
        if (result.User?.Identity?.Name is { } name && !IsAdmitted(name, header, hello, received))
        {
            return HelloOutcome.Refused;
        }

        if (handshake.RequireRoutingId && hello.RoutingId.Length == 0)
        {
            var reason = new CloseReason(CloseKind.Unauthenticated, "This server requires a routing_id in Hello.");
            Refused(hello, ErrorCode.Unauthenticated, reason.Message);
            output.RefuseUnauthenticated(header, received, reason);
            return HelloOutcome.Refused;
        }

        IClaimedId? identity = null;
        if (hello.RoutingId.Length != 0
            && (identity = handshake.RoutingIds.TryClaim(
                hello.RoutingId, session, handshake.Duplicates == DuplicateIdentityPolicy.TakeOver)) is null)
        {
            FailDuplicate(header, hello, received);
            return HelloOutcome.Refused;
        }

        if (identity is null || _claiming is null)
        {
            Welcome(header, hello, received, identity, result);
            return HelloOutcome.Welcomed;
        }

        _claiming.Begin(identity, hello.RoutingId, handshake.Duplicates == DuplicateIdentityPolicy.TakeOver, result);
        return WelcomeIfGranted(header, hello, received, _claiming);
    }

    private HelloOutcome WelcomeIfGranted(in FrameHeader header, in HelloBody hello, long received, IdClaiming claiming)
    {
        switch (claiming.Take(out IClaimedId identity, out AuthenticationResult admitted))
        {
            case null:
                return HelloOutcome.Awaited;
            case RoutingIdGrant.Granted:
                Welcome(header, hello, received, identity, admitted);
                return HelloOutcome.Welcomed;
            case RoutingIdGrant.Taken:
                FailDuplicate(header, hello, received);
                break;
            default:
                Fail(
                    header, hello, received, ErrorCode.Unavailable,
                    $"Whether the routing id '{hello.RoutingId}' is free on all servers cannot be found out now; try again later.");
                break;
        }

        return HelloOutcome.Refused;
    }

    private void Welcome(
        in FrameHeader header, in HelloBody hello, long received, IClaimedId? identity, AuthenticationResult admitted)
    {
        AwaitsHello = false;
        session.Identity = identity;
        session.ClientName = hello.ClientName;
        TimeSpan heartbeat = settings.Options.HeartbeatInterval;
        if (!header.IsOneWay)
        {
            uint extensions = hello.Extensions & Extensions.Known;
            output.Reply(
                header,
                received,
                new WelcomeBody(
                    (ulong)session.Id, handshake.ServerName, (uint)settings.Options.MaxFrameBytes,
                    (uint)heartbeat.TotalMilliseconds, extensions));
            Agreed = extensions;
        }

        IdentityEndsAt = admitted.ExpiresAt;
    }

    /// <summary>
    /// Makes the welcomed session the owner of its routing id, if it has one. A session that loses the id is closed.
    /// </summary>
    public void EnterIdentity()
    {
        if (session.Identity is { } identity)
        {
            EnterIdentity(identity);
        }
    }

    private void FailDuplicate(in FrameHeader header, in HelloBody hello, long received) => Fail(
        header, hello, received, ErrorCode.DuplicateIdentity, $"The routing id '{hello.RoutingId}' belongs to another session.");

    /// <summary>Called on the loop at each tick. If there is a handshake timeout, it bounds the authenticator too.</summary>
    public void OnTick(long nowMilliseconds)
    {
        TimeSpan limit = settings.Options.AuthorizationTimeout;
        _verdict?.OnTick(nowMilliseconds, settings.Options.HandshakeTimeout > TimeSpan.Zero ? TimeSpan.Zero : limit);
        _claiming?.OnTick(nowMilliseconds, limit);
    }

    /// <summary>
    /// The time for the Hello has passed. If a component is asked about it, gives up the question: the loop then refuses the Hello and
    /// closes the connection. False if none is asked.
    /// </summary>
    public bool GiveUp()
    {
        TimeSpan limit = settings.Options.HandshakeTimeout;
        if ((_verdict?.GiveUp(limit) ?? _claiming?.GiveUp(limit)) is not { } component)
        {
            return false;
        }

        _timedOut = new CloseReason(
            CloseKind.HandshakeTimeout, $"The {component} did not answer within {limit.TotalSeconds:0.###} s.");
        return true;
    }

    public void OnClosed(CloseReason reason)
    {
        _verdict?.OnClosed();
        if (session.Identity is { } identity)
        {
            lock (identity.Telling)
            {
                if (identity.Leave(session))
                {
                    settings.Host.OnRoutingIdLost(session, reason);
                }
            }

            // Last: the events of the next owner follow these.
            identity.Free(session);
        }

        _claiming?.OnClosed();
    }

    private bool IsAdmitted(string name, in FrameHeader header, in HelloBody hello, long received)
    {
        if (handshake.Bans?.Find(name, session.RemoteEndPoint) is { } ban)
        {
            Refused(hello, ErrorCode.Forbidden, ban.ToString());
            output.Refuse(header, received, ErrorCode.Forbidden, ban.Notice);
            session.Connection.Close(new CloseReason(CloseKind.Unauthenticated, ban.ToString(), (uint)ErrorCode.Forbidden));
            return false;
        }

        if (Rates?.TryIdentify(name) is { } limit)
        {
            Fail(header, hello, received, ErrorCode.Overloaded, $"{limit}; try again later.");
            return false;
        }

        return true;
    }

    // The peer may say Hello again, a few times. The message may have the name of its user: the reason is logged.
    private void Fail(in FrameHeader header, in HelloBody hello, long received, ErrorCode code, string message)
    {
        Refused(hello, code, message);
        if (++_failures > MaxFailures)
        {
            string text = $"The peer said Hello {_failures} times without success. {message}";
            output.RefuseUnauthenticated(
                header, received, new CloseReason(CloseKind.Unauthenticated, PeerText.Escape(text)), text);
            return;
        }

        output.Refuse(header, received, code, message);
        if (_timedOut is not null)
        {
            session.Connection.Close(_timedOut);
        }
    }

    // Called before the answer, and so before the end of a session: whoever records both has them in order.
    private void Refused(in HelloBody hello, ErrorCode code, string message) =>
        settings.Host.OnHelloRefused(session, new HelloRefusal(hello.ClientName, code, message));

    private void EnterIdentity(IClaimedId identity)
    {
        var takenOver = new CloseReason(CloseKind.TakenOver, $"A newer session took over the routing id '{identity.Id}'.");
        Session? loser;
        lock (identity.Telling)
        {
            if (identity.TryEnter(session, out loser))
            {
                if (loser is not null)
                {
                    // A session that is already closing keeps its own reason and still answers its requests in flight.
                    CloseReason? ends = loser.Protocol.End.Reason;
                    settings.Host.OnRoutingIdLost(loser, ends ?? takenOver);
                    loser = ends is null ? loser : null;
                }

                settings.Host.OnRoutingIdTaken(session);
            }
            else
            {
                // A still newer session has claimed the id. It could not close this session, which had not entered yet.
                loser = session;
            }
        }

        loser?.Protocol.CloseWithGoodbye(takenOver);
    }

    private DecisionState Authenticate(in HelloBody hello, out AuthenticationResult? result)
    {
        if (_verdict!.IsAsked)
        {
            return _verdict.Take(out result);
        }

        // A Hello before this one may have been another user's, refused for its routing id or a rate.
        session.User = null;
        Task<AuthenticationResult?> asked = AskAsync(new HelloRequest(hello.RoutingId, hello.Token, hello.ClientName, session));
        if (!asked.IsCompleted)
        {
            _verdict.Await(asked);
            result = null;
            return DecisionState.Awaited;
        }

        result = asked.Result;
        return DecisionState.Given;
    }

    // Null if the authenticator has failed.
    private async Task<AuthenticationResult?> AskAsync(HelloRequest hello)
    {
        CancellationToken token = _verdict!.Token;
        try
        {
            return await handshake.Authenticator!(hello, token).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            _verdict.Failed(e, token);
            return null;
        }
    }
}
