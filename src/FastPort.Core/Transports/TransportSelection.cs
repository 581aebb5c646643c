using System.Collections.Concurrent;
using FastPort.Configuration;
using FastPort.Transports.Epoll;
using FastPort.Transports.InProcess;
using FastPort.Transports.Sockets;

namespace FastPort.Transports;

/// <summary>From the configured kind to the transport, and why a kind cannot be had.</summary>
internal static class TransportSelection
{
    /// <summary>For messages about a scheme that nobody serves.</summary>
    public const string Examples = "tcp://host:port, unix:///path or inproc://name";

    // One for all clients of the process that bring no transport of their own and ask for loops of one kind: a program with a thousand
    // clients must not have a thousand threads. Never removed: those that nobody uses have no threads, and a program knows few kinds.
    private static readonly ConcurrentDictionary<EpollOptions, EpollTransport> SharedEpoll = new();

    // It has no threads and no state.
    private static readonly SocketTransport Sockets = new();

    /// <summary>What Auto means on this system. Set by tests alone, which run over every transport.</summary>
    internal static TransportKind Auto { get; set; } = EpollTransport.IsSupported ? TransportKind.Epoll : TransportKind.Sockets;

    /// <summary>Transports with loops of their own.</summary>
    public static ITransport[] Create(TransportKind kind, EpollOptions options) =>
        [UsesEpoll(kind) ? new EpollTransport(options) : Sockets, new InProcessTransport(options.SpinMicroseconds)];

    /// <summary>Transports with the process's loops for these options. Of the one within the process nothing is worth sharing.</summary>
    public static ITransport[] Shared(TransportKind kind, EpollOptions options) =>
        [
            UsesEpoll(kind) ? SharedEpoll.GetOrAdd(options, static o => new EpollTransport(o)) : Sockets,
            new InProcessTransport(options.SpinMicroseconds),
        ];

    /// <summary>The option that names the kind.</summary>
    public static TransportKind Describe(OptionSection section, string key, TransportKind value)
    {
        TransportKind kind = section.Choice(key, value);
        if (kind == TransportKind.Epoll && !EpollTransport.IsSupported)
        {
            section.Refuse(key, "Epoll, which only Linux has", "allowed here are Auto and Sockets");
        }

        return kind;
    }

    private static bool UsesEpoll(TransportKind kind) =>
        (kind == TransportKind.Auto ? Auto : kind) == TransportKind.Epoll;
}
