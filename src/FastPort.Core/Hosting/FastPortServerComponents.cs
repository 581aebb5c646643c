using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Hosting;

/// <summary>What can be plugged into a <see cref="FastPortServer"/>. Set before the server is made.</summary>
public sealed class FastPortServerComponents : ConnectionServerComponents
{
    /// <summary>
    /// Turns Hello's token into an identity; with one, every session must say Hello first. Defaults to null: everybody is let in.
    /// </summary>
    public Authenticator? Authenticator { get; set; }

    /// <summary>Asked for every message before its handler. Defaults to null: everything is allowed.</summary>
    public Authorizer? Authorizer { get; set; }

    /// <summary>Where handled messages are measured (role server). Defaults to null: not measured.</summary>
    public LatencyStats? LatencyStats { get; set; }

    /// <summary>
    /// Makes the router from the default one, which delivers to the sessions of this server, for example to carry further what that one
    /// does not find. Called once, when the server is made. Defaults to null: the default one.
    /// </summary>
    public Func<IMessageRouter, IMessageRouter>? Router { get; set; }
}
