using System.Net;
using System.Security.Claims;
using FastPort.Connections;
using FastPort.OpcUa.SecureChannel;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.OpcUa.Server;

/// <summary>An OPC UA server to embed in a program. Start it once, stop it once. Its members are safe from any thread.</summary>
public sealed class OpcUaServer : IAsyncDisposable
{
    /// <summary>The scheme of OPC UA over TCP.</summary>
    internal const string Scheme = "opc.tcp";

    /// <summary>The port of endpoints that name none (OPC 10000-6, 7.2).</summary>
    internal const int DefaultPort = 4840;

    /// <summary>The one transport and encoding that there is.</summary>
    internal const string TransportProfile = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";

    private readonly ConnectionServer _server;
    private uint _lastChannel;
    private long _lastWarning;
    private long _lastUserWarning;
    private ApplicationCertificates? _certificates;

    // Not starting at 1 in each run (OPC 10000-4, 5.14.2): a client that reconnects after a restart would find its id used by another
    // client.
    private uint _lastSubscription = (uint)Random.Shared.NextInt64(1L << 32);

    /// <summary>Creates a server. No endpoint is bound before <see cref="StartAsync"/>.</summary>
    /// <param name="options">Options; must not change afterwards.</param>
    /// <param name="loggerFactory">Creates the server's logger. Defaults to no logging.</param>
    /// <param name="time">Source of time. Defaults to the system's.</param>
    /// <exception cref="FastPortOptionsException">Options are out of range; the message names all of them.</exception>
    public OpcUaServer(OpcUaServerOptions options, ILoggerFactory? loggerFactory = null, TimeProvider? time = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.Validate() is { Count: > 0 } problems)
        {
            throw new FastPortOptionsException(problems);
        }

        Options = options;
        Time = time ?? TimeProvider.System;
        Logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<OpcUaServer>();
        AddressSpace = new AddressSpace(options, Time);
        Sessions = new SessionManager(this);
        Channels = new ServerChannels(options.MaxSecureChannels);
        Users = options.Users ?? new ValidatedUsers(options);
        var components = new ConnectionServerComponents { Time = Time, Bans = options.Bans };
        components.Transports.MapScheme(Scheme, over: "tcp", DefaultPort);
        _server = new ConnectionServer(options, _ => new ServerChannel(this), components, loggerFactory);
    }

    /// <summary>The nodes that clients see.</summary>
    public AddressSpace AddressSpace { get; }

    /// <summary>The bound endpoints, with their actual ports.</summary>
    public IReadOnlyList<Endpoint> Endpoints => _server.Endpoints;

    /// <summary>Number of sessions.</summary>
    public int SessionCount => Sessions.Count;

    internal OpcUaServerOptions Options { get; }

    /// <summary>The server's URI, the certificate's once it is loaded.</summary>
    internal string ApplicationUri => _certificates?.ApplicationUri ?? Options.ApplicationUri;

    internal IOpcUaUsers Users { get; }

    internal TimeProvider Time { get; }

    internal ILogger Logger { get; }

    internal SessionManager Sessions { get; }

    internal ServerChannels Channels { get; }

    /// <summary>The open connections, whether they have a channel or not.</summary>
    internal IReadOnlyCollection<Connection> Connections => _server.Connections;

    /// <summary>The certificates; null if no policy needs them.</summary>
    internal ApplicationCertificates? Certificates => _certificates;

    /// <summary>Binds the endpoints and accepts clients. Creates the server's certificate if it needs one and has none.</summary>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="EndpointException">An endpoint cannot be bound; the message says which and why.</exception>
    /// <exception cref="IOException">The directory of the certificates cannot be used.</exception>
    public Task StartAsync(CancellationToken cancellationToken = default)
    {
        // Passwords are encrypted with the server's key even if messages are not.
        if (Users.HasNames || Users.HasCertificates
            || Options.SecurityPolicies.Any(static policy => policy != OpcUaSecurityPolicy.None))
        {
            IEnumerable<string> hosts = Options.Endpoints.Select(Endpoint.Parse)
                .Where(static one => one.Scheme == Scheme)
                .SelectMany(CertificateHosts.Of);
            _certificates ??= new ApplicationCertificates(
                new CertificateStore(Options.Certificates, Time, Logger),
                Options.ApplicationUri,
                Options.ApplicationUri == OpcUaServerOptions.DefaultApplicationUri,
                Options.ApplicationName,
                hosts.Prepend("localhost").Prepend(Environment.MachineName),
                Time,
                Logger);
            AddressSpace.SetApplicationUri(ApplicationUri);
        }

        Sessions.Start();
        if (Options.Bans is { } bans)
        {
            bans.Added += Sessions.EndBanned;
        }

        return _server.StartAsync(cancellationToken);
    }

    /// <summary>
    /// Stops accepting, and ends all channels and sessions. From the beginning, ServerStatus shows that the server is shutting down;
    /// clients that monitor it are notified before their channels close, others can read it during <see cref="ServerOptions.DrainDelay"/>.
    /// </summary>
    /// <param name="cancellationToken">Ends the stop at once.</param>
    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        Announce();
        await _server.StopAsync(cancellationToken).ConfigureAwait(false);
        Unwatch();
        Sessions.Dispose();
    }

    /// <summary>Stops the server.</summary>
    public async ValueTask DisposeAsync()
    {
        Announce();
        Unwatch();
        await _server.DisposeAsync().ConfigureAwait(false);
        Sessions.Dispose();
        _certificates?.Dispose();
    }

    /// <summary>Whether a warning about a peer may be logged: strangers must not fill the log.</summary>
    internal bool MayWarn() => MayWarn(ref _lastWarning);

    /// <summary>As <see cref="MayWarn()"/>, about a user: repeated attempts of one user do not hide other warnings.</summary>
    internal bool MayWarnOfUser() => MayWarn(ref _lastUserWarning);

    private bool MayWarn(ref long lastWarning)
    {
        long now = Time.GetTimestamp();
        long last = Volatile.Read(ref lastWarning);
        return (last == 0 || Time.GetElapsedTime(last, now) >= TimeSpan.FromSeconds(1))
            && Interlocked.CompareExchange(ref lastWarning, now, last) == last;
    }

    /// <summary>Whether a user is banned.</summary>
    internal bool IsBanned(ClaimsPrincipal? user) => user?.Identity?.Name is { } name && Options.Bans?.Find(name) is not null;

    /// <summary>A number that no other channel of this server has had.</summary>
    internal uint NextChannelId() => Interlocked.Increment(ref _lastChannel);

    /// <summary>A number that no other subscription of this server has had.</summary>
    internal uint NextSubscriptionId()
    {
        uint id = Interlocked.Increment(ref _lastSubscription);

        // 0 is no id.
        return id != 0 ? id : Interlocked.Increment(ref _lastSubscription);
    }

    /// <summary>
    /// The URL of the server in its descriptions: the client's URL; if it is missing, or too long to be sent back, the server's endpoint
    /// (OPC 10000-4, 5.5.4.2).
    /// </summary>
    internal string UrlFor(string? used, EndPoint? local)
    {
        IReadOnlyList<Endpoint> endpoints = Endpoints;
        if (used?.Length <= ChannelLimits.MaxTextBytes
            && endpoints.Any(one => used.StartsWith($"{one.Scheme}://", StringComparison.OrdinalIgnoreCase)))
        {
            return used;
        }

        if (endpoints.Count == 0)
        {
            // A channel without a listener, for example of a fuzzer.
            return string.Empty;
        }

        Endpoint own = endpoints.FirstOrDefault(static one => one.Scheme == Scheme) ?? endpoints[0];
        return CertificateHosts.IsAny(own) && local is IPEndPoint { Address: var address }
            ? (own with { Host = (address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address).ToString() }).ToString()
            : own.ToString();
    }

    internal ApplicationDescription Describe(string endpointUrl) => new()
    {
        ApplicationUri = ApplicationUri,
        ProductUri = Options.ProductUri,
        ApplicationName = Options.ApplicationName,
        ApplicationType = ApplicationType.Server,
        DiscoveryUrls = [endpointUrl],
    };

    /// <summary>Whether clients may open channels of this kind.</summary>
    internal bool Offers(SecurityPolicy policy, MessageSecurityMode mode) =>
        policy.IsNone == (mode == MessageSecurityMode.None)
        && (policy.IsNone || Options.SecurityModes.Contains(mode))
        && Offers(policy);

    /// <summary>Whether clients may open channels with this policy, in any mode.</summary>
    internal bool Offers(SecurityPolicy policy) => Options.SecurityPolicies.Any(one => SecurityPolicy.Of(one) == policy);

    /// <summary>The endpoints as a client sees them: with a URL of <see cref="UrlFor"/>.</summary>
    internal EndpointDescription[] DescribeEndpoints(string endpointUrl) =>
    [
        .. Options.SecurityPolicies.Distinct().SelectMany(one => one == OpcUaSecurityPolicy.None
            ? (EndpointDescription[])[DescribeEndpoint(endpointUrl, one, MessageSecurityMode.None)]
            : [.. Options.SecurityModes.Distinct().Select(mode => DescribeEndpoint(endpointUrl, one, mode))]),
    ];

    // Once: a second stop waits for the first.
    private void Announce()
    {
        if (AddressSpace.TryShutDown(Time.GetUtcNow() + Options.DrainDelay))
        {
            foreach ((_, Subscription subscription) in Sessions.Subscriptions)
            {
                subscription.TellStatus();
            }
        }
    }

    private void Unwatch()
    {
        if (Options.Bans is { } bans)
        {
            bans.Added -= Sessions.EndBanned;
        }
    }

    private EndpointDescription DescribeEndpoint(string url, OpcUaSecurityPolicy policy, MessageSecurityMode mode) => new()
    {
        EndpointUrl = url,
        Server = Describe(url),
        ServerCertificate = _certificates?.Own.Der,
        SecurityMode = mode,
        SecurityPolicyUri = SecurityPolicy.Of(policy).Uri,
        UserIdentityTokens = UserTokens.Describe(this, policy),
        TransportProfileUri = TransportProfile,

        // Stronger policies, and encryption before signing alone.
        SecurityLevel = (byte)(((int)policy * 10) + (int)mode),
    };
}
