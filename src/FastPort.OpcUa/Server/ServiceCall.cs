using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>A request that is being served.</summary>
/// <param name="Channel">The channel that it arrived on.</param>
/// <param name="RequestId">Its id on the channel.</param>
/// <param name="Header">Its header.</param>
/// <param name="Session">The session of the header's token; null if there is none.</param>
internal readonly record struct ServiceCall(ServerChannel Channel, uint RequestId, RequestHeader Header, ServerSession? Session)
{
    public OpcUaServer Server => Channel.Server;

    /// <summary>Why the session cannot be used here; null if it can. Counts as a sign of life.</summary>
    public StatusCode? CheckSession()
    {
        if (Session is null || Session.IsEnded)
        {
            return StatusCodes.BadSessionIdInvalid;
        }

        if (Session.Channel != Channel)
        {
            return StatusCodes.BadSecureChannelIdInvalid;
        }

        if (!Session.IsActivated)
        {
            // It ends (OPC 10000-4, 5.7.3.1), unless its client has sent ActivateSession and the answer is delayed.
            if (!Channel.IsCheckingUser)
            {
                Session.End(deletesSubscriptions: true);
            }

            return StatusCodes.BadSessionNotActivated;
        }

        long now = Server.Sessions.Clock.PreciseMilliseconds;
        if (Session.IsSilent(now))
        {
            Session.End(deletesSubscriptions: false);
            return StatusCodes.BadSessionIdInvalid;
        }

        Session.LastRequest = now;
        return null;
    }

    /// <summary>Whether the client may read or write the value of a variable.</summary>
    public bool Allows(VariableNode variable, bool isWrite, bool isAttempt = true) =>
        Server.Options.AuthorizeVariable is not { } authorize
        || NoContext.Call(
            static one => one.authorize(one.access),
            (authorize, access: new VariableAccess(Session?.Identity, Channel.RemoteEndPoint, variable, isWrite, isAttempt)));

    public void Reply<T>(in T body)
        where T : struct, IServiceMessage => Channel.Send(RequestId, Header.RequestHandle, body);

    public void Fault(StatusCode status) => Channel.SendFault(RequestId, Header.RequestHandle, status);
}
