using System.Net;
using System.Security.Claims;
using FastPort.Logging;
using FastPort.Security.Audit;
using FastPort.Security.Files;
using FastPort.Security.Policies;
using Microsoft.Extensions.Logging;

namespace FastPort.Security;

/// <summary>
/// The policy of a server, for handlers that check application-defined names, such as those of tags. A service of the host if
/// <see cref="SecurityOptions.PolicyFile"/> is set, under the server's name. Messages and topics are checked without it. Safe from any
/// thread.
/// </summary>
public sealed class ServerPolicy : IDisposable
{
    private readonly WatchedFile<Policy> _file;
    private readonly bool _reportOnly;
    private readonly SecurityEvents _events;
    private readonly ITimer _again;
    private readonly Func<ServerRouting> _routing;
    private readonly ILogger _logger;

    internal ServerPolicy(
        WatchedFile<Policy> file,
        SecurityOptions options,
        TimeProvider time,
        SecurityEvents events,
        Func<ServerRouting> routing,
        ILogger logger)
    {
        (_file, _reportOnly, _events, _routing, _logger) = (file, options.PolicyReportOnly, events, routing, SafeLogger.Of(logger));
        _again = NoContext.CreateTimer(
            time, static policy => ((ServerPolicy)policy!).EndAgain(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        file.Changed += _ =>
        {
            EndSubscriptions();

            // A Subscribe that the previous policy has allowed may be in progress.
            _again.Change(options.ReloadInterval, Timeout.InfiniteTimeSpan);
            Changed?.Invoke();
        };
    }

    /// <summary>Whether there are rules for roles, and none of them is for a role of the identity.</summary>
    /// <param name="user">The identity.</param>
    internal bool HasNoRoleOf(ClaimsPrincipal user) => _file.Current.HasNoRoleOf(user);

    /// <summary>Raised when the policy has changed and is in force. A handler must not block.</summary>
    public event Action? Changed;

    /// <summary>Whether a session may perform an action; nothing is counted. Always true while refusals are only reported.</summary>
    /// <param name="session">The session.</param>
    /// <param name="action">The action.</param>
    /// <param name="name">The name that the action applies to.</param>
    public bool Allows(Session session, PolicyAction action, string name)
    {
        ArgumentNullException.ThrowIfNull(session);
        return Allows(session.User, action, name);
    }

    /// <summary>
    /// Whether an identity may perform an action, for entry points other than the server's endpoints; nothing is counted. Always true while
    /// refusals are only reported.
    /// </summary>
    /// <param name="user">The identity; null for an anonymous peer.</param>
    /// <param name="action">The action.</param>
    /// <param name="name">The name that the action applies to.</param>
    public bool Allows(ClaimsPrincipal? user, PolicyAction action, string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return _reportOnly || _file.Current.For(user).Names(action).Allow(name);
    }

    /// <summary>
    /// Whether a session may perform an action on this name or on any name that begins with it; nothing is counted. Always true while
    /// refusals are only reported.
    /// </summary>
    /// <param name="session">The session.</param>
    /// <param name="action">The action.</param>
    /// <param name="start">The beginning of a name.</param>
    public bool AllowsAnyOf(Session session, PolicyAction action, string start)
    {
        ArgumentNullException.ThrowIfNull(session);
        ArgumentNullException.ThrowIfNull(start);
        return _reportOnly || Grants(session).Names(action).AllowAnyOf(start);
    }

    /// <summary>Whether a session that attempts an action may perform it. A refusal is counted and audited.</summary>
    /// <param name="session">The session.</param>
    /// <param name="action">The action.</param>
    /// <param name="name">The name that the action applies to.</param>
    public bool Authorize(Session session, PolicyAction action, string name)
    {
        ArgumentNullException.ThrowIfNull(session);
        ArgumentNullException.ThrowIfNull(name);
        if (Grants(session).Names(action).Allow(name))
        {
            return true;
        }

        _events.Refused(session, action, name, _reportOnly);
        return _reportOnly;
    }

    /// <summary>
    /// Whether an identity that attempts an action may perform it, for entry points other than the server's endpoints. A refusal is counted
    /// and audited.
    /// </summary>
    /// <param name="user">The identity; null for an anonymous peer.</param>
    /// <param name="peer">The peer's address; null if unknown.</param>
    /// <param name="action">The action.</param>
    /// <param name="name">The name that the action applies to.</param>
    public bool Authorize(ClaimsPrincipal? user, EndPoint? peer, PolicyAction action, string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (_file.Current.For(user).Names(action).Allow(name))
        {
            return true;
        }

        _events.Refused(user, peer, action, name, _reportOnly);
        return _reportOnly;
    }

    /// <summary>
    /// Audits that an earlier permitted action of a session, such as a subscription, was ended because the policy has changed.
    /// </summary>
    /// <param name="session">The session.</param>
    /// <param name="action">The action that is no longer allowed.</param>
    /// <param name="name">The name that the action applies to.</param>
    public void AuditEnd(Session session, PolicyAction action, string name)
    {
        ArgumentNullException.ThrowIfNull(session);
        ArgumentNullException.ThrowIfNull(name);
        _events.SubscriptionEnded(session, action, name);
    }

    /// <summary>Stops checking the file.</summary>
    public void Dispose()
    {
        _file.Dispose();
        _again.Dispose();
    }

    /// <summary>An <see cref="Authorizer"/>: whether a message may be handled.</summary>
    internal ValueTask<bool> AuthorizeAsync(AuthorizationRequest request, CancellationToken cancellationToken)
    {
        if (Grants(request.Session).Allow(request.Type, request.Topic ?? request.Target))
        {
            return new ValueTask<bool>(true);
        }

        _events.Refused(request, _reportOnly);
        return new ValueTask<bool>(_reportOnly);
    }

    private Grants Grants(Session session) => _file.Current.For(session.User);

    private void EndAgain()
    {
        try
        {
            EndSubscriptions();
        }
        catch (ObjectDisposedException)
        {
            // The host is being disposed: its services are no longer available, and its sessions have ended.
        }
        catch (Exception e)
        {
            FileLog.SubscriberFailed(_logger, "policy", e);
        }
    }

    private void EndSubscriptions()
    {
        if (_reportOnly)
        {
            return;
        }

        IReadOnlyList<(Session Session, string Prefix)> ended = _routing().EndSubscriptions(
            (session, prefix) => Grants(session).Names(PolicyAction.Subscribe).AllowAllOf(prefix));
        foreach ((Session session, string prefix) in ended)
        {
            _events.SubscriptionEnded(session, PolicyAction.Subscribe, prefix);
        }
    }
}
