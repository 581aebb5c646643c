using System.Collections.Concurrent;
using FastPort.Configuration;
using FastPort.Transports.Epoll;
using FastPort.Transports.InProcess;
using FastPort.Transports.Sockets;

namespace FastPort.Transports;

/// <summary>Creates the transport of the configured kind, or reports why the kind is not available.</summary>
internal static class TransportSelection
{
    /// <summary>For messages about a scheme that no transport serves.</summary>
    public const string Examples = "tcp://host:port, tls://host:port, unix:///path or inproc://name";

    // One transport for all clients of the process that are given no transport and use the same options: a program with a thousand clients
    // must not have a thousand threads. Never removed: unused loops have no threads, and a program uses few kinds.
    private static readonly ConcurrentDictionary<EpollOptions, EpollTransport> SharedEpoll = new();

    // It has no threads and no state.
    private static readonly SocketTransport Sockets = new();

    /// <summary>The meaning of Auto on this system. Only tests set it, to run over every transport.</summary>
    internal static TransportKind Auto { get; set; } = EpollTransport.IsSupported ? TransportKind.Epoll : TransportKind.Sockets;

    /// <summary>Transports with their own loops.</summary>
    public static ITransport[] Create(TransportKind kind, EpollOptions options) =>
        [UsesEpoll(kind) ? new EpollTransport(options) : Sockets, InProcess(options)];

    /// <summary>Transports with the process's loops for these options. The in-process transport has nothing to share.</summary>
    public static ITransport[] Shared(TransportKind kind, EpollOptions options) =>
        [
            UsesEpoll(kind) ? SharedEpoll.GetOrAdd(options, static o => new EpollTransport(o)) : Sockets,
            InProcess(options),
        ];

    /// <summary>The option that names the kind.</summary>
    public static TransportKind Describe(OptionSection section, string key, TransportKind value)
    {
        TransportKind kind = section.Choice(key, value);
        if (kind == TransportKind.Epoll && !EpollTransport.IsSupported)
        {
            section.Refuse(key, "Epoll, which is available only on Linux", "use Auto or Sockets");
        }

        return kind;
    }

    private static InProcessTransport InProcess(EpollOptions options)
    {
        // Without event loops, nothing else checks them.
        EpollOptions.ThrowIfOutOfRange(options);
        return new InProcessTransport(options.SpinMicroseconds);
    }

    private static bool UsesEpoll(TransportKind kind) =>
        (kind == TransportKind.Auto ? Auto : kind) == TransportKind.Epoll;
}
