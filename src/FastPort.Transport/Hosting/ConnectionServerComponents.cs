using FastPort.Transports;

namespace FastPort.Connections;

/// <summary>Replaceable parts of a server of any protocol. Set before the server is created.</summary>
public class ConnectionServerComponents
{
    /// <summary>
    /// Transports and scheme aliases. The first transport that serves an endpoint's scheme is used. If there are no transports, the
    /// built-in ones are used, as selected by <see cref="ServerOptions.Transport"/>.
    /// </summary>
    public TransportCollection Transports { get; } = [];

    /// <summary>The stages that a connection passes, in order, before it gets its protocol. Defaults to none.</summary>
    public IList<ConnectionStage> Stages { get; } = [];

    /// <summary>
    /// The bans, for a program that fills the list itself; servers may share one. Defaults to null: the server creates an empty list.
    /// </summary>
    public BanList? Bans { get; set; }

    /// <summary>Source of time. Defaults to the system's.</summary>
    public TimeProvider? Time { get; set; }
}
