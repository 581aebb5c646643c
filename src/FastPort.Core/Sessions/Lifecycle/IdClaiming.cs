using FastPort.Sessions.Logging;

namespace FastPort.Sessions.Lifecycle;

/// <summary>
/// The claim of a session's routing id among several servers. Until the directory answers, reading is paused and the Hello frame stays in
/// the ring. On the loop.
/// </summary>
internal sealed class IdClaiming(IRoutingIdClaims claims, SessionSettings settings, Session session)
{
    private const string Component = "directory of routing ids";

    private readonly PendingDecision<RoutingIdGrant> _grant = new(settings, session, Component);

    // The claim of the Hello in the ring or, after its welcome, of the session; null before.
    private RoutingIdClaim? _claim;

    // Of the Hello in the ring: this server's own claim, and the authenticator's answer. Null after it was answered.
    private IClaimedId? _local;
    private AuthenticationResult? _admitted;

    /// <summary>Whether an answer is due.</summary>
    public bool IsAsked => _grant.IsAsked;

    /// <summary>Claims an id that no other session of this server has.</summary>
    public void Begin(IClaimedId local, string routingId, bool takesOver, AuthenticationResult admitted)
    {
        _local = local;
        _admitted = admitted;
        _claim = new RoutingIdClaim(session, routingId, takesOver);
        _grant.Await(ClaimAsync(_claim));
    }

    /// <summary>The directory's answer; null while it is due. If the id is not granted, it has been given up.</summary>
    public RoutingIdGrant? Take(out IClaimedId local, out AuthenticationResult admitted)
    {
        local = _local!;
        admitted = _admitted!;
        DecisionState state = _grant.Take(out RoutingIdGrant grant);
        if (state == DecisionState.Awaited)
        {
            return null;
        }

        _local = null;
        _admitted = null;
        if (state == DecisionState.GivenUp)
        {
            grant = RoutingIdGrant.Unavailable;
        }

        if (grant != RoutingIdGrant.Granted)
        {
            local.Free(session);
            Release(_claim!);
            _claim = null;
        }

        return grant;
    }

    public void OnTick(long nowMilliseconds, TimeSpan limit) => _grant.OnTick(nowMilliseconds, limit);

    public string? GiveUp(TimeSpan limit) => _grant.GiveUp(limit);

    public void OnClosed()
    {
        _grant.OnClosed();
        _local?.Free(session);
        if (_claim is { } claim)
        {
            Release(claim);
        }
    }

    private void Release(RoutingIdClaim claim)
    {
        try
        {
            claims.Release(claim);
        }
        catch (Exception e)
        {
            // The session still has to end.
            SessionLog.AuthorizationFailed(settings.Logger, session, Component, e);
        }

        NoContext.Restore();
    }

    private async Task<RoutingIdGrant> ClaimAsync(RoutingIdClaim claim)
    {
        CancellationToken token = _grant.Token;
        try
        {
            return await claims.ClaimAsync(claim, token).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            _grant.Failed(e, token);
            return RoutingIdGrant.Unavailable;
        }
    }
}
