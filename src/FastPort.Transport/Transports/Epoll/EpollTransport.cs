using System.Net;
using FastPort.Connections;
using FastPort.Transports.Epoll.Loop;

namespace FastPort.Transports.Epoll;

/// <summary>
/// The Linux transport for TCP and Unix sockets: its own event loops over epoll, with direct system calls. Its threads run while it has
/// listeners or connections, so it does not need to be disposed. Thread-safe; several servers and clients may share one transport and its
/// loops.
/// </summary>
public sealed class EpollTransport : ITransport
{
    private readonly EpollLoopGroup _group;

    /// <summary>Creates the transport; the loops start when they are needed.</summary>
    /// <param name="options">How the loops run. Defaults to the defaults of <see cref="EpollOptions"/>.</param>
    /// <exception cref="PlatformNotSupportedException">Not on Linux: see <see cref="IsSupported"/>.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is outside its range.</exception>
    public EpollTransport(EpollOptions? options = null)
    {
        if (!IsSupported)
        {
            throw new PlatformNotSupportedException("The epoll transport runs on Linux only; use the portable SocketTransport here.");
        }

        options ??= new EpollOptions();
        EpollOptions.ThrowIfOutOfRange(options);
        _group = new EpollLoopGroup(options);
    }

    /// <summary>Whether this system has epoll: true on Linux.</summary>
    public static bool IsSupported => OperatingSystem.IsLinux();

    /// <inheritdoc/>
    public bool Supports(string scheme) => scheme is "tcp" or "unix";

    /// <inheritdoc/>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) =>
        new EpollListener(endpoint, settings, _group);

    /// <inheritdoc/>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        return new StreamConnector(endpoint, settings, Connect);
    }

    /// <summary>The idle time and the rounds of each loop; empty while no loop runs.</summary>
    internal IReadOnlyList<(long IdleNanoseconds, long Rounds)> ReadProgress() => _group.ReadProgress();

    private ValueTask<Connection> Connect(EndPoint address, ConnectionSettings settings, CancellationToken cancellationToken) =>
        EpollConnect.RunAsync(address, _group, settings, cancellationToken);
}
