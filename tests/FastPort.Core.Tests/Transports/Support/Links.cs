using FastPort.Transports;
using FastPort.Transports.Epoll;
using FastPort.Transports.InProcess;
using FastPort.Transports.Sockets;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>Every way that bytes can take, for the tests that hold for all of them: another one is one more line here.</summary>
internal static class Links
{
    public static readonly IReadOnlyList<LinkKind> All =
    [
        .. new[]
        {
            LinkKind.Tcp("tcp by sockets", static () => new SocketTransport()),
            LinkKind.Tcp("tcp by epoll", static () => new EpollTransport(), EpollTransport.IsSupported),
            LinkKind.Unix("unix by sockets", static () => new SocketTransport()),
            LinkKind.Unix("unix by epoll", static () => new EpollTransport(), EpollTransport.IsSupported),
            LinkKind.Tcp("tcp by epoll, spinning", EpollSpinning, EpollTransport.IsSupported),
            LinkKind.Tls("tls by sockets", static () => new SocketTransport()),
            LinkKind.Tls("tls by epoll", static () => new EpollTransport(), EpollTransport.IsSupported),
            LinkKind.WebSocket("ws by sockets", static () => new SocketTransport()),
            LinkKind.WebSocket("ws by epoll", static () => new EpollTransport(), EpollTransport.IsSupported),
            LinkKind.InProcess("in process", static () => new InProcessTransport()),
            LinkKind.InProcess("in process, spinning", static () => new InProcessTransport(spinMicroseconds: 200)),
        }.Where(static link => link.IsSupported),
    ];

    public static LinkKind Get(string name) => All.Single(link => link.Name == name);

    private static EpollTransport EpollSpinning() => new(new EpollOptions { Loops = 2, SpinMicroseconds = 1_000 });
}

/// <summary>One way that bytes can take.</summary>
internal sealed class LinkKind
{
    public required string Name { get; init; }

    public required bool IsSupported { get; init; }

    public required Func<ITransport> CreateTransport { get; init; }

    /// <summary>Where to listen, given a directory of the test's own.</summary>
    public required Func<TemporaryDirectory, string> Uri { get; init; }

    /// <summary>Whether a raw end's reset can be told from an end in order. Unix sockets have no resets.</summary>
    public required bool TellsResets { get; init; }

    /// <summary>Whether an abort can, too. A socket's reset may be overtaken by the end of its stream.</summary>
    public bool TellsAborts { get; init; }

    /// <summary>
    /// Makes a listener that takes no more connections, so that connecting there goes on and on; null where a link has no such thing.
    /// </summary>
    public Func<TemporaryDirectory, BusyListener>? Busy { get; init; }

    /// <summary>Connects a peer that the transport does not know; with true one that takes few bytes before it reads.</summary>
    public required Func<TestLink, bool, Task<RawEnd>> ConnectRawAsync { get; init; }

    public static LinkKind Tcp(string name, Func<ITransport> transport, bool isSupported = true) => new()
    {
        Name = name,
        IsSupported = isSupported,
        CreateTransport = transport,
        Uri = static _ => "tcp://127.0.0.1:0",
        TellsResets = true,
        Busy = static _ => BusyListener.Tcp(),
        ConnectRawAsync = SocketEnd.ConnectAsync,
    };

    public static LinkKind Tls(string name, Func<ITransport> below, bool isSupported = true) => new()
    {
        Name = name,
        IsSupported = isSupported,
        CreateTransport = () => new LayeredTransport(below()),
        Uri = static _ => "tls://127.0.0.1:0",
        TellsResets = true,
        Busy = static _ => BusyListener.Tcp(),
        ConnectRawAsync = TlsSocketEnd.ConnectAsync,
    };

    public static LinkKind WebSocket(string name, Func<ITransport> below, bool isSupported = true) => new()
    {
        Name = name,
        IsSupported = isSupported,
        CreateTransport = () => new LayeredTransport(below()),
        Uri = static _ => "ws://127.0.0.1:0",
        TellsResets = true,
        Busy = static _ => BusyListener.Tcp(),
        ConnectRawAsync = WebSocketEnd.ConnectAsync,
    };

    public static LinkKind InProcess(string name, Func<ITransport> transport) => new()
    {
        Name = name,
        IsSupported = true,
        CreateTransport = transport,

        // Names are the process's, and tests run side by side.
        Uri = static directory => $"inproc://{directory.Path}",
        TellsResets = true,
        TellsAborts = true,
        ConnectRawAsync = ConnectionEnd.ConnectAsync,
    };

    public static LinkKind Unix(string name, Func<ITransport> transport, bool isSupported = true) => new()
    {
        Name = name,
        IsSupported = isSupported && !OperatingSystem.IsWindows(),
        CreateTransport = transport,
        Uri = static directory => $"unix://{directory["link.sock"]}",
        TellsResets = false,
        Busy = static directory => BusyListener.Unix(directory["busy.sock"]),
        ConnectRawAsync = SocketEnd.ConnectAsync,
    };
}
