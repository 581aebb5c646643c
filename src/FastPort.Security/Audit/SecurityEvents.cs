using System.Diagnostics.Metrics;
using System.Globalization;
using System.Net;
using System.Security.Claims;
using FastPort.Security.Policies;

namespace FastPort.Security.Audit;

/// <summary>Events of identities and permissions: counted, and written to the audit log if there is one. Thread-safe.</summary>
internal sealed class SecurityEvents : IDisposable
{
    private readonly AuditLog? _log;
    private readonly RefusalLines? _lines;
    private readonly Meter _meter;
    private readonly Counter<long> _authentications;
    private readonly Counter<long> _refusals;
    private readonly Counter<long> _reloads;

    /// <summary>Creates the counters.</summary>
    /// <param name="log">The audit log; null for none. Not disposed.</param>
    /// <param name="server">The server's name, for the tag of the counters; empty for none.</param>
    /// <param name="time">Source of time.</param>
    public SecurityEvents(AuditLog? log, string server, TimeProvider time)
    {
        _log = log;
        _lines = log is null ? null : new RefusalLines(time, MoreRefused);
        _meter = new Meter(new MeterOptions("FastPort")
        {
            Tags = server.Length == 0 ? null : [new("fastport.server", server)],
        });
        _authentications = _meter.CreateCounter<long>(
            "fastport.authentications", "{attempt}", "Hellos and other logins, by outcome.");
        _refusals = _meter.CreateCounter<long>("fastport.policy.refusals", "{message}", "Messages that the policy does not allow.");
        _reloads = _meter.CreateCounter<long>("fastport.security.reloads", "{reload}", "Files that were reloaded after a change.");
    }

    /// <summary>A Hello was refused.</summary>
    /// <param name="session">The session.</param>
    /// <param name="client">The peer's name for itself.</param>
    /// <param name="reason">Why.</param>
    public void HelloRefused(Session session, string client, string reason)
    {
        Count(isAccepted: false);
        _log?.Add(AuditEvent.Of("hello.refused", session, ("client", client), ("reason", reason)));
    }

    /// <summary>A user was checked for an entry point other than the server's endpoints.</summary>
    /// <param name="peer">The user's address; null if unknown.</param>
    /// <param name="name">The given name; null for none.</param>
    /// <param name="by">How the user has authenticated.</param>
    /// <param name="result">The outcome.</param>
    public void UserChecked(EndPoint? peer, string? name, string by, AuthenticationResult result)
    {
        Count(result.IsAccepted);
        (string, string)[] details = result.IsAccepted ? [("by", by)] : [("by", by), ("reason", result.Message)];
        _log?.Add(new AuditEvent(
            result.IsAccepted ? "user.accepted" : "user.refused", Remote: peer?.ToString(), User: name, Details: details));
    }

    /// <summary>A session is known.</summary>
    public void Identified(Session session)
    {
        Count(isAccepted: true);
        _log?.Add(AuditEvent.Of(
            "session.identified",
            session,
            ("routingId", session.RoutingId),
            ("client", session.ClientName),
            ("by", session.User?.Identity?.AuthenticationType ?? "nothing")));
    }

    /// <summary>A session that was known has ended.</summary>
    public void Closed(Session session, CloseReason reason)
    {
        _lines?.End(session);
        if (session.IsIdentified)
        {
            _log?.Add(AuditEvent.Of("session.closed", session, ("kind", reason.Kind.ToString()), ("reason", reason.Message)));
        }
    }

    /// <summary>The policy does not allow a message.</summary>
    /// <param name="request">The message.</param>
    /// <param name="reportOnly">Whether it was still handled.</param>
    public void Refused(in AuthorizationRequest request, bool reportOnly)
    {
        CountRefusal(reportOnly);
        if (_lines?.TryEnter(request.Session, NameOfRefusal(reportOnly)) != true)
        {
            return;
        }

        string type = string.Create(CultureInfo.InvariantCulture, $"0x{request.Type:X4}");
        (string, string)[] details = (request.Topic ?? request.Target) is { } name
            ? [("type", type), ("name", name)]
            : [("type", type)];
        _log!.Add(AuditEvent.Of(NameOfRefusal(reportOnly), request.Session, details));
    }

    /// <summary>The policy does not allow an action on a name.</summary>
    /// <param name="session">The session.</param>
    /// <param name="action">The action.</param>
    /// <param name="name">The name that the action applies to.</param>
    /// <param name="reportOnly">Whether it was still done.</param>
    public void Refused(Session session, PolicyAction action, string name, bool reportOnly)
    {
        CountRefusal(reportOnly);
        if (_lines?.TryEnter(session, NameOfRefusal(reportOnly)) == true)
        {
            _log!.Add(AuditEvent.Of(NameOfRefusal(reportOnly), session, Details(action, name)));
        }
    }

    /// <summary>The policy does not allow a user of an entry point other than the server's endpoints an action on a name.</summary>
    /// <param name="user">The user; null for an anonymous one.</param>
    /// <param name="peer">The user's address; null if unknown.</param>
    /// <param name="action">The action.</param>
    /// <param name="name">The name that the action applies to.</param>
    /// <param name="reportOnly">Whether it was still done.</param>
    public void Refused(ClaimsPrincipal? user, EndPoint? peer, PolicyAction action, string name, bool reportOnly)
    {
        CountRefusal(reportOnly);
        var other = new OtherPeer(peer, user?.Identity?.Name);
        if (_lines?.TryEnter(other, NameOfRefusal(reportOnly)) == true)
        {
            _log!.Add(other.Event(NameOfRefusal(reportOnly), Details(action, name)));
        }
    }

    /// <summary>A subscription was ended, because the policy has changed.</summary>
    public void SubscriptionEnded(Session session, PolicyAction action, string name) =>
        _log?.Add(AuditEvent.Of("subscription.ended", session, Details(action, name)));

    /// <summary>A file was read again.</summary>
    public void Reloaded(string what, string path)
    {
        _reloads.Add(1, new KeyValuePair<string, object?>("file", what));
        _log?.Add(new AuditEvent("file.reloaded", Details: [("what", what), ("path", path)]));
    }

    /// <summary>A ban was added.</summary>
    public void Banned(Ban ban) => _log?.Add(new AuditEvent(
        "ban.added",
        Details:
        [
            ("subject", ban.Subject),
            ("until", ban.Until.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture)),
            ("reason", ban.Reason),
        ]));

    /// <summary>A ban was ended before its time.</summary>
    public void BanLifted(Ban ban) => _log?.Add(new AuditEvent("ban.lifted", Details: [("subject", ban.Subject)]));

    /// <summary>A certificate of the server was replaced.</summary>
    public void CertificateChanged(CertificateInfo certificate) => _log?.Add(AuditEvent.Of("certificate.changed", certificate));

    private static string NameOfRefusal(bool reportOnly) => reportOnly ? "message.reported" : "message.refused";

    private void MoreRefused(object peer, string name, int count)
    {
        (string, string) detail = ("count", count.ToString(CultureInfo.InvariantCulture));
        _log!.Add(peer is Session session
            ? AuditEvent.Of(name, session, detail)
            : ((OtherPeer)peer).Event(name, detail));
    }

    private static (string Key, string Value)[] Details(PolicyAction action, string name) =>
        [("action", PolicyReader.KeyOf(action)), ("name", name)];

    private void Count(bool isAccepted) =>
        _authentications.Add(1, new KeyValuePair<string, object?>("outcome", isAccepted ? "accepted" : "refused"));

    private void CountRefusal(bool reportOnly) =>
        _refusals.Add(1, new KeyValuePair<string, object?>("mode", reportOnly ? "report" : "refuse"));

    public void Dispose()
    {
        _lines?.Dispose();
        _meter.Dispose();
    }

    // A user of an entry point other than the server's endpoints.
    private sealed record OtherPeer(EndPoint? Address, string? User)
    {
        public AuditEvent Event(string name, params (string Key, string Value)[] details) =>
            new(name, Remote: Address?.ToString(), User: User, Details: details);
    }
}
