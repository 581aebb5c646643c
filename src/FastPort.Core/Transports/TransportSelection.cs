using FastPort.Transports.Epoll;
using FastPort.Transports.Sockets;

namespace FastPort.Transports;

/// <summary>From the configured kind to the transport, and why a kind cannot be had.</summary>
internal static class TransportSelection
{
    // One for all clients of the process that bring no transport of their own: a program with a thousand clients must not have a thousand threads.
    private static readonly Lazy<EpollTransport> SharedEpoll = new(static () => new EpollTransport());

    /// <summary>What Auto means on this system. Set by tests alone, which run over every transport.</summary>
    internal static TransportKind Auto { get; set; } = EpollTransport.IsSupported ? TransportKind.Epoll : TransportKind.Sockets;

    /// <summary>A transport of its own for a server.</summary>
    public static ITransport Create(TransportKind kind, EpollOptions options) =>
        UsesEpoll(kind) ? new EpollTransport(options) : new SocketTransport();

    /// <summary>The process's transport for clients.</summary>
    public static ITransport Shared(TransportKind kind) => UsesEpoll(kind) ? SharedEpoll.Value : new SocketTransport();

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
