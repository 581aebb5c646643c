using FastPort.Transports.Epoll;
using FastPort.Transports.InProcess;
using FastPort.Transports.Sockets;

namespace FastPort.Transports;

/// <summary>From the configured kind to the transport, and why a kind cannot be had.</summary>
internal static class TransportSelection
{
    /// <summary>For messages about a scheme that nobody serves.</summary>
    public const string Examples = "tcp://host:port, unix:///path or inproc://name";

    // One for all clients of the process that bring no transport of their own: a program with a thousand clients must not have a thousand threads.
    private static readonly Lazy<EpollTransport> SharedEpoll = new(static () => new EpollTransport());

    // These have no threads and no state.
    private static readonly SocketTransport Sockets = new();
    private static readonly InProcessTransport InProcess = new();

    /// <summary>What Auto means on this system. Set by tests alone, which run over every transport.</summary>
    internal static TransportKind Auto { get; set; } = EpollTransport.IsSupported ? TransportKind.Epoll : TransportKind.Sockets;

    /// <summary>Transports of its own for a server; the first that serves a scheme is taken.</summary>
    public static IReadOnlyList<ITransport> Create(TransportKind kind, EpollOptions options) =>
        UsesEpoll(kind) ? [new EpollTransport(options), InProcess] : [Sockets, InProcess];

    /// <summary>The process's transport for clients; null where none serves the scheme.</summary>
    public static ITransport? Shared(TransportKind kind, string scheme)
    {
        ITransport first = UsesEpoll(kind) ? SharedEpoll.Value : Sockets;
        return first.Supports(scheme) ? first : InProcess.Supports(scheme) ? InProcess : null;
    }

    public static void Check(List<string> problems, string section, TransportKind kind)
    {
        Sessions.OptionCheck.Defined(problems, section, "Transport", kind);
        if (kind == TransportKind.Epoll && !EpollTransport.IsSupported)
        {
            problems.Add($"{section}:Transport is Epoll, which only Linux has; allowed here are Auto and Sockets.");
        }
    }

    private static bool UsesEpoll(TransportKind kind) =>
        (kind == TransportKind.Auto ? Auto : kind) == TransportKind.Epoll;
}
