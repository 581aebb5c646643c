using FastPort.Connections;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort;

/// <summary>Replaceable parts of a <see cref="FastPortServer"/>. Set before the server is created.</summary>
public sealed class FastPortServerComponents : ConnectionServerComponents
{
    /// <summary>
    /// Turns Hello's token into an identity. If set, every session must say Hello first. Defaults to null: every peer is accepted.
    /// </summary>
    public Authenticator? Authenticator { get; set; }

    /// <summary>
    /// Whether the <see cref="Authenticator"/> also accepts peers that do not authenticate, so that anyone may connect:
    /// <see cref="FastPortServerOptions.RequireSecureDefaults"/> does not count that as authentication. Defaults to false.
    /// </summary>
    public bool AllowsAnonymous { get; set; }

    /// <summary>Called for every message before its handler. Defaults to null: every message is allowed.</summary>
    public Authorizer? Authorizer { get; set; }

    /// <summary>
    /// Measures handled messages (role server). In a host it is the registered service, which the reports read; any other instance is
    /// refused. Defaults to null: not measured.
    /// </summary>
    public LatencyStats? LatencyStats { get; set; }

    /// <summary>
    /// Creates the router from the default one, which delivers to the sessions of this server; for example to forward messages whose target
    /// the default one does not find. Called once, when the server is created. Defaults to null: the default router.
    /// </summary>
    public Func<IMessageRouter, IMessageRouter>? Router { get; set; }

    /// <summary>
    /// Makes routing ids unique among several servers, together with a <see cref="Router"/> that forwards messages to them. Defaults to
    /// null: ids are unique within this server only.
    /// </summary>
    public IRoutingIdClaims? RoutingIdClaims { get; set; }

    /// <summary>
    /// Learns which topics the sessions of this server are subscribed to; used together with a <see cref="Router"/> that forwards
    /// publications. Defaults to null.
    /// </summary>
    public ITopicInterests? TopicInterests { get; set; }

    /// <summary>
    /// Creates the directory of sessions from the default one, which knows those of this server; for example to ask other servers too.
    /// Called once, when the server is created. Defaults to null: the default directory.
    /// </summary>
    public Func<IPeers, IPeers>? Peers { get; set; }
}
