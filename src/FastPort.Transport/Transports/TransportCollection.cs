using System.Collections.ObjectModel;
using FastPort.Connections;
using FastPort.Transports.Epoll;

namespace FastPort.Transports;

/// <summary>
/// Transports and the schemes that they serve. The first transport that serves an endpoint's scheme is used; if none does, the alias with
/// its name. The collection is itself a transport, so a custom client or listener can be given all of them. Fill it before use; its use is
/// thread-safe.
/// </summary>
public sealed class TransportCollection : Collection<ITransport>, ITransport
{
    private readonly Dictionary<string, SchemeAlias> _aliases;

    /// <summary>
    /// Creates a collection without transports. A server or client that is given it uses the library's transports that its options select.
    /// </summary>
    public TransportCollection()
        : this([], [])
    {
    }

    private TransportCollection(IList<ITransport> transports, Dictionary<string, SchemeAlias> aliases)
        : base(transports) => _aliases = aliases;

    /// <summary>The library's transports, with separate event loops where they use event loops: for a server.</summary>
    /// <param name="kind">The transport of TCP and Unix sockets. Defaults to <see cref="TransportKind.Auto"/>.</param>
    /// <param name="options">How event loops run. Defaults to the defaults.</param>
    /// <exception cref="PlatformNotSupportedException">The kind is Epoll and the system is not Linux.</exception>
    public static TransportCollection CreateDefault(TransportKind kind = TransportKind.Auto, EpollOptions? options = null) =>
        new(TransportSelection.Create(kind, options ?? new EpollOptions()), []);

    /// <summary>
    /// The library's transports, with event loops shared by all callers in this process that pass the same kind and options: for clients.
    /// The loops have no threads while they have no connections.
    /// </summary>
    /// <param name="kind">The transport of TCP and Unix sockets. Defaults to <see cref="TransportKind.Auto"/>.</param>
    /// <param name="options">How event loops run. Defaults to the defaults.</param>
    /// <exception cref="PlatformNotSupportedException">The kind is Epoll and the system is not Linux.</exception>
    public static TransportCollection CreateShared(TransportKind kind = TransportKind.Auto, EpollOptions? options = null) =>
        new(TransportSelection.Shared(kind, options ?? new EpollOptions()), []);

    /// <summary>Serves a scheme through a transport that serves another one: <c>transports.MapScheme("opc.tcp", over: "tcp", defaultPort:
    /// 4840)</c>.</summary>
    /// <param name="scheme">The new scheme; letters, digits, '+', '-' and '.', in any case.</param>
    /// <param name="over">The scheme whose transport carries the bytes; it is passed the host and port, but neither path nor query.</param>
    /// <param name="defaultPort">
    /// Port of endpoints without one, 0 to 65535. Defaults to null: endpoints must contain a port where <paramref name="over"/> needs one.
    /// </param>
    /// <returns>This collection.</returns>
    /// <exception cref="ArgumentException">The scheme is built in or already mapped.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The port is out of range.</exception>
    public TransportCollection MapScheme(string scheme, string over, int? defaultPort = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(scheme);
        ArgumentException.ThrowIfNullOrEmpty(over);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(defaultPort ?? 0, 65535, nameof(defaultPort));
        ArgumentOutOfRangeException.ThrowIfNegative(defaultPort ?? 0, nameof(defaultPort));
        scheme = scheme.ToLowerInvariant();
        if (scheme is "tcp" or "unix" or "inproc" || LayeredSchemes.Contain(scheme))
        {
            throw new ArgumentException($"'{scheme}' is served by the library itself; give the alias another name.", nameof(scheme));
        }

        if (!_aliases.TryAdd(scheme, new SchemeAlias(over.ToLowerInvariant(), defaultPort)))
        {
            throw new ArgumentException($"'{scheme}' is already mapped.", nameof(scheme));
        }

        return this;
    }

    /// <inheritdoc/>
    public bool Supports(string scheme) => Find(scheme, out _) is not null;

    /// <inheritdoc/>
    /// <exception cref="EndpointException">No transport serves the scheme, or a port is missing.</exception>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings)
    {
        ITransport transport = Find(endpoint, out SchemeAlias? alias);
        return alias is null
            ? transport.CreateListener(endpoint, settings)
            : new AliasListener(endpoint, transport.CreateListener(alias.Resolve(endpoint), settings));
    }

    /// <inheritdoc/>
    /// <exception cref="EndpointException">No transport serves the scheme, or a port is missing.</exception>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings)
    {
        ITransport transport = Find(endpoint, out SchemeAlias? alias);
        return alias is null
            ? transport.CreateConnector(endpoint, settings)
            : new AliasConnector(endpoint, transport.CreateConnector(alias.Resolve(endpoint), settings));
    }

    /// <summary>These transports, or the given ones where there are none; with these aliases.</summary>
    internal TransportCollection OrElse(Func<TransportCollection> others) =>
        Count != 0 ? this : new TransportCollection(others().Items, _aliases);

    /// <summary>The idle time and the rounds of each event loop of these transports.</summary>
    internal IReadOnlyList<(long IdleNanoseconds, long Rounds)> ReadProgress() =>
        [.. this.OfType<EpollTransport>().SelectMany(static transport => transport.ReadProgress())];

    /// <summary>The scheme through which an alias is served; for others the scheme itself.</summary>
    internal string SchemeBelow(string scheme)
    {
        Find(scheme, out SchemeAlias? alias);
        return alias?.Over ?? scheme;
    }

    private ITransport Find(Endpoint endpoint, out SchemeAlias? alias)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        return Find(endpoint.Scheme, out alias)
            ?? throw new EndpointException(
                endpoint, $"No transport serves '{endpoint.Scheme}' of {endpoint}. Use {TransportSelection.Examples}.");
    }

    private ITransport? Find(string scheme, out SchemeAlias? alias)
    {
        alias = null;
        return this.FirstOrDefault(t => t.Supports(scheme))
            ?? (_aliases.TryGetValue(scheme, out alias) ? Over(alias.Over) : null);

        ITransport? Over(string over) => this.FirstOrDefault(t => t.Supports(over));
    }
}
