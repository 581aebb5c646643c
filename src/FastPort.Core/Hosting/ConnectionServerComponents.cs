using FastPort.Transports;

namespace FastPort.Hosting;

/// <summary>What can be plugged into a server of any protocol. Set before the server is made.</summary>
public class ConnectionServerComponents
{
    /// <summary>
    /// Transports, the first that serves an endpoint's scheme is taken, and aliases of schemes. Without transports the library's own are
    /// used, as
    /// <see cref="ServerOptions.Transport"/> names them.
    /// </summary>
    public TransportCollection Transports { get; } = [];

    /// <summary>What a connection goes through, one stage after the other, before it gets its protocol. Defaults to nothing.</summary>
    public IList<ConnectionStage> Stages { get; } = [];

    /// <summary>Source of time. Defaults to the system's.</summary>
    public TimeProvider? Time { get; set; }
}
