using System.Buffers;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;

namespace FastPort.Sessions.Lifecycle;

/// <summary>
/// The accepting side's answer to Hello: authentication, routing id, Welcome. Runs on the loop. Until the authenticator answers, reading is
/// paused and the Hello frame stays in the ring; the loop then handles it again.
/// </summary>
internal sealed class Handshake(HandshakeSettings settings, FrameProtocol protocol)
{
    /// <summary>The frame limit in bytes until Hello, if Hello is required.</summary>
    public const int MaxHelloBytes = 16 * 1024;

    // Hellos that a peer may send again before it is disconnected: each costs a call of the authenticator.
    private const int MaxFailures = 8;

    private readonly PendingDecision<AuthenticationResult?>? _verdict =
        settings.Authenticator is null ? null : new(protocol, "authenticator");

    // Null if there is no directory.
    private readonly IdClaiming? _claiming = settings.Claims is null ? null : new IdClaiming(settings.Claims, protocol);
    private int _failures;

    // The time for the Hello has passed while a component was asked about it: the reason to close after the answer to the Hello.
    private CloseReason? _timedOut;

    public bool IsRequired => settings.IsRequired;

    /// <summary>Whether only a Hello is accepted now.</summary>
    public bool AwaitsHello { get; private set; } = settings.IsRequired;

    /// <summary>Handles a Hello; false while the authenticator has not answered.</summary>
    public bool OnHello(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        Session session = protocol.Session;
        if (session.IsIdentified)
        {
            protocol.Replies.Refuse(header, received, ErrorCode.MalformedBody, "Hello was received already; a session sends it once.");
            return true;
        }

        if (!HelloBody.TryRead(body.IsSingleSegment ? body.FirstSpan : body.ToArray(), out HelloBody hello))
        {
            protocol.Replies.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Hello message.");
            return true;
        }

        bool isNamed = RoutingIdLimits.IsName(hello.ClientName);
        if (!isNamed || !RoutingIdLimits.IsName(hello.RoutingId))
        {
            // Who is told of it puts the client's name into logs.
            Fail(
                header, isNamed ? hello : hello with { ClientName = string.Empty }, received, ErrorCode.MalformedBody,
                $"routing_id and client_name have {RoutingIdLimits.Name}.");
            return true;
        }

        if (hello.RoutingId.StartsWith(RoutingIdLimits.ReservedMark))
        {
            Fail(
                header, hello, received, ErrorCode.MalformedBody,
                $"routing_id begins with '{RoutingIdLimits.ReservedMark}', which is reserved for the server; choose another id.");
            return true;
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
                    return false;
                case DecisionState.GivenUp:
                    result = null;
                    break;
            }
        }

        if (result is null)
        {
            Fail(header, hello, received, ErrorCode.Unavailable, "Authentication is not available now; try again later.");
            return true;
        }

        if (result.ExpiresAt <= protocol.Settings.Clock.Time.GetUtcNow())
        {
            result = AuthenticationResult.Refuse("The token has expired.");
        }

        if (!result.IsAccepted)
        {
            // The authenticator's message may quote the peer.
            Refused(hello, ErrorCode.Unauthenticated, result.Message);
            string shown = PeerText.Escape(result.Message);
            SessionLog.HelloRefused(protocol.Settings.Logger, session, shown);
            protocol.RefuseUnauthenticated(
                header, received, new CloseReason(CloseKind.Unauthenticated, shown), result.Message);
            return true;
        }

        // Set before the ban is looked up: a ban that is added meanwhile finds either this Hello or this user.
        session.User = result.User;

        // A full fence, as of the ban's side (ConnectionServer.CloseBanned), which lists the ban before it looks at the users.
        Interlocked.MemoryBarrier();
        if (result.User?.Identity?.Name is { } name && !IsAdmitted(name, header, hello, received))
        {
            return true;
        }

        if (settings.RequireRoutingId && hello.RoutingId.Length == 0)
        {
            var reason = new CloseReason(CloseKind.Unauthenticated, "This server requires a routing_id in Hello.");
            Refused(hello, ErrorCode.Unauthenticated, reason.Message);
            protocol.RefuseUnauthenticated(header, received, reason);
            return true;
        }

        IClaimedId? identity = null;
        if (hello.RoutingId.Length != 0
            && (identity = settings.RoutingIds.TryClaim(
                hello.RoutingId, session, settings.Duplicates == DuplicateIdentityPolicy.TakeOver)) is null)
        {
            FailDuplicate(header, hello, received);
            return true;
        }

        if (identity is null || _claiming is null)
        {
            Welcome(header, hello, received, identity, result);
            return true;
        }

        _claiming.Begin(identity, hello.RoutingId, settings.Duplicates == DuplicateIdentityPolicy.TakeOver, result);
        return WelcomeIfGranted(header, hello, received, _claiming);
    }

    // False while the directory has not answered.
    private bool WelcomeIfGranted(in FrameHeader header, in HelloBody hello, long received, IdClaiming claiming)
    {
        switch (claiming.Take(out IClaimedId identity, out AuthenticationResult admitted))
        {
            case null:
                return false;
            case RoutingIdGrant.Granted:
                Welcome(header, hello, received, identity, admitted);
                break;
            case RoutingIdGrant.Taken:
                FailDuplicate(header, hello, received);
                break;
            default:
                Fail(
                    header, hello, received, ErrorCode.Unavailable,
                    $"Whether the routing id '{hello.RoutingId}' is free on all servers cannot be found out now; try again later.");
                break;
        }

        return true;
    }

    private void Welcome(
        in FrameHeader header, in HelloBody hello, long received, IClaimedId? identity, AuthenticationResult admitted)
    {
        Session session = protocol.Session;
        AwaitsHello = false;
        session.Identity = identity;
        session.ClientName = hello.ClientName;
        TimeSpan heartbeat = protocol.Settings.Options.HeartbeatInterval;
        if (!header.IsOneWay)
        {
            uint extensions = hello.Extensions & Extensions.Known;
            protocol.Replies.Reply(
                header,
                received,
                new WelcomeBody(
                    (ulong)session.Id, settings.ServerName, (uint)protocol.Settings.Options.MaxFrameBytes,
                    (uint)heartbeat.TotalMilliseconds, extensions));
            if ((extensions & Extensions.Trace) != 0)
            {
                protocol.CarryTraces();
            }
        }

        // After the Welcome, so that no unsolicited message precedes it.
        protocol.Identified(admitted.ExpiresAt);
        if (identity is not null)
        {
            EnterIdentity(identity);
        }

        protocol.AfterHello();
    }

    private void FailDuplicate(in FrameHeader header, in HelloBody hello, long received) => Fail(
        header, hello, received, ErrorCode.DuplicateIdentity, $"The routing id '{hello.RoutingId}' belongs to another session.");

    /// <summary>Called on the loop at each tick. If there is a handshake timeout, it bounds the authenticator too.</summary>
    public void OnTick(long nowMilliseconds)
    {
        TimeSpan limit = protocol.Settings.Options.AuthorizationTimeout;
        _verdict?.OnTick(nowMilliseconds, protocol.Settings.Options.HandshakeTimeout > TimeSpan.Zero ? TimeSpan.Zero : limit);
        _claiming?.OnTick(nowMilliseconds, limit);
    }

    /// <summary>
    /// The time for the Hello has passed. If a component is asked about it, gives up the question: the loop then refuses the Hello and
    /// closes the connection. False if none is asked.
    /// </summary>
    public bool GiveUp()
    {
        TimeSpan limit = protocol.Settings.Options.HandshakeTimeout;
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
        if (protocol.Session.Identity is { } identity)
        {
            lock (identity.Telling)
            {
                if (identity.Leave(protocol.Session))
                {
                    protocol.Settings.Host.OnRoutingIdLost(protocol.Session, reason);
                }
            }

            // Last: the events of the next owner follow these.
            identity.Free(protocol.Session);
        }

        _claiming?.OnClosed();
    }

    private bool IsAdmitted(string name, in FrameHeader header, in HelloBody hello, long received)
    {
        Session session = protocol.Session;
        if (settings.Bans?.Find(name, session.RemoteEndPoint) is { } ban)
        {
            Refused(hello, ErrorCode.Forbidden, ban.ToString());
            protocol.Replies.Refuse(header, received, ErrorCode.Forbidden, ban.Notice);
            session.Connection.Close(new CloseReason(CloseKind.Unauthenticated, ban.ToString(), (uint)ErrorCode.Forbidden));
            return false;
        }

        if (protocol.Rates?.TryIdentify(name) is { } limit)
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
            protocol.RefuseUnauthenticated(
                header, received, new CloseReason(CloseKind.Unauthenticated, PeerText.Escape(text)), text);
            return;
        }

        protocol.Replies.Refuse(header, received, code, message);
        if (_timedOut is not null)
        {
            protocol.Session.Connection.Close(_timedOut);
        }
    }

    // Called before the answer, and so before the end of a session: whoever records both has them in order.
    private void Refused(in HelloBody hello, ErrorCode code, string message) =>
        protocol.Settings.Host.OnHelloRefused(protocol.Session, new HelloRefusal(hello.ClientName, code, message));

    private void EnterIdentity(IClaimedId identity)
    {
        var takenOver = new CloseReason(CloseKind.TakenOver, $"A newer session took over the routing id '{identity.Id}'.");
        Session? loser;
        lock (identity.Telling)
        {
            if (identity.TryEnter(protocol.Session, out loser))
            {
                if (loser is not null)
                {
                    // A session that is already closing keeps its own reason and still answers its requests in flight.
                    CloseReason? ends = loser.Protocol.EndReason;
                    protocol.Settings.Host.OnRoutingIdLost(loser, ends ?? takenOver);
                    loser = ends is null ? loser : null;
                }

                protocol.Settings.Host.OnRoutingIdTaken(protocol.Session);
            }
            else
            {
                // A still newer session has claimed the id. It could not close this session, which had not entered yet.
                loser = protocol.Session;
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
        protocol.Session.User = null;
        Task<AuthenticationResult?> asked = AskAsync(new HelloRequest(hello.RoutingId, hello.Token, hello.ClientName, protocol.Session));
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
            return await settings.Authenticator!(hello, token).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            _verdict.Failed(e, token);
            return null;
        }
    }
}
