namespace FastPort;

/// <summary>Which transport carries TCP and Unix sockets.</summary>
public enum TransportKind
{
    /// <summary>The fastest transport of the system: <see cref="Epoll"/> on Linux, else <see cref="Sockets"/>.</summary>
    Auto,

    /// <summary>FastPort's event loops over epoll; Linux only.</summary>
    Epoll,

    /// <summary>The runtime's sockets, on every system.</summary>
    Sockets,
}
