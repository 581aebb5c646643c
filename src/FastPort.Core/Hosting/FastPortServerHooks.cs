using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Telemetry;
using FastPort.Transports;

namespace FastPort.Hosting;

/// <summary>What can be plugged into a server. Set before the server is made.</summary>
public sealed class FastPortServerHooks
{
    /// <summary>Turns Hello's token into an identity; with one, every session must say Hello first. Defaults to null: everybody is let in.</summary>
    public Authenticator? Authenticator { get; set; }

    /// <summary>Asked for every message before its handler. Defaults to null: everything is allowed.</summary>
    public Authoriser? Authoriser { get; set; }

    /// <summary>Where handled messages are measured (role server). Defaults to null: not measured.</summary>
    public LatencyStats? LatencyStats { get; set; }

    /// <summary>
    /// Transports, the first that serves an endpoint's scheme is taken, and aliases of schemes. Without transports the library's own are used, as
    /// <see cref="FastPortServerOptions.Transport"/> names them.
    /// </summary>
    public TransportCollection Transports { get; } = [];

    /// <summary>
    /// Makes the router from the default one, which delivers to the sessions of this server, for example to carry further what that one does not find. Called
    /// once, when the server is made. Defaults to null: the default one.
    /// </summary>
    public Func<IMessageRouter, IMessageRouter>? Router { get; set; }

    /// <summary>Source of time. Defaults to the system's.</summary>
    public TimeProvider? Time { get; set; }
}
