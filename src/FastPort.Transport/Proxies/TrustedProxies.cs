using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Proxies;

/// <summary>The sources whose connections begin with a PROXY header. Immutable; safe from any thread.</summary>
internal sealed class TrustedProxies
{
    /// <summary>Stands for all peers of Unix sockets.</summary>
    public const string Unix = "unix";

    /// <summary>What a source may be, for messages.</summary>
    public const string Allowed = "allowed: addresses such as 10.0.0.1, networks such as 10.0.0.0/8, and unix";

    private readonly AddressNetworks _networks;
    private readonly bool _unix;

    /// <summary>Creates the set.</summary>
    /// <param name="sources">Addresses, networks, and <see cref="Unix"/>; see <see cref="IsSource"/>.</param>
    public TrustedProxies(IEnumerable<string> sources)
    {
        string[] all = [.. sources];
        _unix = all.Contains(Unix, StringComparer.Ordinal);
        _networks = new AddressNetworks(all.Where(static source => source != Unix));
    }

    /// <summary>Whether there are no sources.</summary>
    public bool IsEmpty => _networks.IsEmpty && !_unix;

    /// <summary>Whether a text is an address (<c>10.0.0.1</c>), a network (<c>10.0.0.0/8</c>), or <see cref="Unix"/>.</summary>
    public static bool IsSource(string text) => text == Unix || AddressNetworks.TryParse(text) is not null;

    /// <summary>Whether connections of this peer begin with a PROXY header.</summary>
    public bool Contain(EndPoint? peer) =>
        _networks.Contain(peer) || (_unix && peer is UnixDomainSocketEndPoint);

    /// <summary>
    /// A stage (<c>ConnectionStage</c>) that reads the header of such a connection, which then has the client's address. A client without a
    /// reported address has the proxy's address (proxy-protocol.txt, 2.2), or none if that would make it a peer on this machine.
    /// </summary>
    /// <param name="connection">The connection, not started.</param>
    /// <param name="workers">The task completes on one of them.</param>
    /// <param name="cancellationToken">Cancels the wait for the header.</param>
    public async ValueTask<Connection?> ReadHeaderAsync(
        Connection connection, HandshakeWorkers workers, CancellationToken cancellationToken)
    {
        if (!Contain(connection.RemoteEndPoint))
        {
            return connection;
        }

        var preamble = new ProxyPreamble(workers);
        connection.Start(preamble);
        ProxyHeader header = await preamble.Header.WaitAsync(cancellationToken).ConfigureAwait(false);
        if (!header.IsOwn)
        {
            TransportConnection.Of(connection, "A PROXY header").SetClient(header.Client ?? Elsewhere(connection.RemoteEndPoint));
        }

        return connection;
    }

    private static IPEndPoint? Elsewhere(EndPoint? proxy) => proxy is IPEndPoint ip && !IPAddress.IsLoopback(ip.Address) ? ip : null;
}
