using System.Security.Cryptography.X509Certificates;
using FastPort.Transports;

namespace FastPort.OpcUa.Server;

/// <summary>Options of an <see cref="OpcUaServer"/>.</summary>
public sealed class OpcUaServerOptions
{
    /// <summary>Where the server listens: <c>opc.tcp://host:port/path</c>, default port 4840. At least one.</summary>
    public IList<string> Endpoints { get; } = [];

    /// <summary>Identifies this application instance. Defaults to <c>urn:HOST:FastPort:OpcUaServer</c>.</summary>
    public string ApplicationUri { get; set; } = $"urn:{Environment.MachineName}:FastPort:OpcUaServer";

    /// <summary>Identifies the product. Defaults to <c>urn:fastport:opcua</c>.</summary>
    public string ProductUri { get; set; } = "urn:fastport:opcua";

    /// <summary>The application's name for people. Defaults to <c>FastPort OPC UA server</c>.</summary>
    public string ApplicationName { get; set; } = "FastPort OPC UA server";

    /// <summary>
    /// The security policies that clients may choose, each but None both for signed and for encrypted messages. Defaults to None and
    /// Basic256Sha256. Without None, clients can still ask for endpoints without security.
    /// </summary>
    public IList<OpcUaSecurityPolicy> SecurityPolicies { get; set; } = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];

    /// <summary>The server's certificate and those that it trusts. Used if a policy other than None is offered.</summary>
    public OpcUaCertificateOptions Certificates { get; } = new();

    /// <summary>Whether clients without a user may activate sessions. Defaults to true.</summary>
    public bool AllowAnonymous { get; set; } = true;

    /// <summary>
    /// Checks a user's name and password. Null for no users. Defaults to null. Passwords are only accepted encrypted.
    /// </summary>
    public Func<string, string, CancellationToken, ValueTask<bool>>? ValidateUser { get; set; }

    /// <summary>
    /// Decides whether the owner of a certificate is a user. It has shown that it has the key, which must be RSA, and the certificate is in
    /// its time; who has issued it is for the callback to check. The certificate is disposed when the callback has completed. Null for no
    /// such users. Defaults to null (OPC 10000-4, 7.41.5).
    /// </summary>
    public Func<X509Certificate2, CancellationToken, ValueTask<bool>>? ValidateUserCertificate { get; set; }

    /// <summary>
    /// Most secure channels, connections that have not opened one included. At the limit the oldest one without an activated session is
    /// closed for a new one (OPC 10000-4, 5.5.2). Defaults to 2,000.
    /// </summary>
    public int MaxSecureChannels { get; set; } = 2000;

    /// <summary>
    /// Megabytes that the connections may hold together beyond 64 KiB each: unfinished requests and unread responses. At the limit
    /// connections are closed, first those without a session. Defaults to null: the budget of the process, a quarter of its memory.
    /// </summary>
    public int? MaxBufferedMegabytes { get; set; }

    /// <summary>
    /// Maximum number of sessions, with those that have ended and left subscriptions for others to take over: the oldest of these goes when
    /// there is no room. Defaults to 1,000.
    /// </summary>
    public int MaxSessions { get; set; } = 1000;

    /// <summary>Largest request and response, in bytes; 8 KiB to 1 GiB. Defaults to 16 MiB.</summary>
    public int MaxMessageBytes { get; set; } = 16 * 1024 * 1024;

    /// <summary>Largest chunk, in bytes; 8,192 to 1 MiB. Defaults to 65,535.</summary>
    public int MaxChunkBytes { get; set; } = 65_535;

    /// <summary>Most nodes of a Read. Defaults to 10,000.</summary>
    public int MaxNodesPerRead { get; set; } = 10_000;

    /// <summary>Most nodes of a Write. Defaults to 10,000.</summary>
    public int MaxNodesPerWrite { get; set; } = 10_000;

    /// <summary>
    /// Most nodes of a Browse, BrowseNext, RegisterNodes, and paths of a TranslateBrowsePathsToNodeIds. Defaults to 1,000.
    /// </summary>
    public int MaxNodesPerBrowse { get; set; } = 1000;

    /// <summary>Most methods of a Call. Defaults to 100.</summary>
    public int MaxMethodsPerCall { get; set; } = 100;

    /// <summary>Most continuation points of a session. Defaults to 10.</summary>
    public int MaxBrowseContinuationPoints { get; set; } = 10;

    /// <summary>Time in which a connection must open its secure channel. Defaults to 10 s.</summary>
    public TimeSpan HandshakeTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Longest life of a secure channel's token; shorter wishes are granted from 10 s on. Defaults to 1 hour.</summary>
    public TimeSpan MaxTokenLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>Longest time that a session lives without a request; shorter wishes are granted from 1 s on. Defaults to 1 hour.</summary>
    public TimeSpan MaxSessionTimeout { get; set; } = TimeSpan.FromHours(1);

    /// <summary>Most subscriptions of a session (OPC 10000-4, 5.14.2). Defaults to 100.</summary>
    public int MaxSubscriptionsPerSession { get; set; } = 100;

    /// <summary>
    /// Shortest time between two publishing cycles of a subscription, and between two calls of <see cref="VariableNode.OnRead"/> for a
    /// monitored item. Shorter wishes get this one. Defaults to 10 ms.
    /// </summary>
    public TimeSpan MinPublishingInterval { get; set; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// Longest life of a subscription whose client sends no Publish; its lifetime count times its publishing interval. Publishing and
    /// keep-alive intervals are at most a third of it (OPC 10000-4, 5.14.2). Defaults to 1 hour.
    /// </summary>
    public TimeSpan MaxSubscriptionLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Most Publish requests of a session that wait. One more, and the oldest gets BadTooManyPublishRequests (OPC 10000-4, 5.14.5).
    /// Defaults to 20.
    /// </summary>
    public int MaxPublishRequestsPerSession { get; set; } = 20;

    /// <summary>
    /// Most notifications of a Publish response; a client may ask for fewer. Defaults to 10,000. A response also ends at 1 MiB, or at
    /// half of the largest message that client and server accept if that is less.
    /// </summary>
    public int MaxNotificationsPerPublish { get; set; } = 10_000;

    /// <summary>
    /// Most messages that a subscription keeps for Republish until they are acknowledged; the oldest one goes (OPC 10000-4, 5.14.6). All of
    /// them together have at most <see cref="MaxMessageBytes"/>, or are one. Defaults to 100.
    /// </summary>
    public int MaxUnacknowledgedMessages { get; set; } = 100;

    /// <summary>
    /// Most items of a CreateMonitoredItems, ModifyMonitoredItems, SetMonitoringMode or DeleteMonitoredItems, and links of a SetTriggering.
    /// Defaults to 10,000.
    /// </summary>
    public int MaxMonitoredItemsPerCall { get; set; } = 10_000;

    /// <summary>Most monitored items of a session, and most links between them. Defaults to 100,000.</summary>
    public int MaxMonitoredItemsPerSession { get; set; } = 100_000;

    /// <summary>
    /// Most values that wait in a monitored item's queue; larger wishes get this one (OPC 10000-4, 5.13.2). Defaults to 1,000.
    /// </summary>
    public int MaxQueueSize { get; set; } = 1000;

    /// <summary>
    /// Most values that wait in the queues of all monitored items of a session, by the sizes that were asked for. An item beyond it gets a
    /// queue of one value. Defaults to 1,000,000.
    /// </summary>
    public int MaxQueuedValuesPerSession { get; set; } = 1_000_000;

    /// <summary>All problems, one sentence each with key, value and what is allowed; empty if there are none.</summary>
    internal IReadOnlyList<string> Validate()
    {
        // Far more than any use of it, and no overflow where two of them meet.
        const int Most = 10_000_000;
        var day = TimeSpan.FromDays(1);
        var second = TimeSpan.FromSeconds(1);
        var checks = new OptionChecks();
        if (Endpoints.Count == 0)
        {
            checks.Refuse(nameof(Endpoints), "empty", "give a list of URIs: opc.tcp://host:port/path");
        }

        foreach (string? url in Endpoints)
        {
            checks.Text(
                nameof(Endpoints),
                url,
                static text => Endpoint.TryParse(text, out Endpoint? endpoint, out _) && endpoint.Scheme == OpcUaServer.Scheme,
                "give URIs such as opc.tcp://host:port/path");
        }

        checks.Text(
            nameof(ApplicationUri), ApplicationUri, static text => Uri.TryCreate(text, UriKind.Absolute, out _), "give an absolute URI");
        checks.Text(nameof(ProductUri), ProductUri, static text => Uri.TryCreate(text, UriKind.Absolute, out _), "give an absolute URI");
        checks.Text(nameof(ApplicationName), ApplicationName, static _ => true, "give a name");
        checks.Choices(nameof(SecurityPolicies), SecurityPolicies);
        checks.Text($"{nameof(Certificates)}:{nameof(Certificates.Directory)}", Certificates.Directory, static _ => true, "give a path");
        checks.Number(nameof(MaxSecureChannels), MaxSecureChannels, 1, 500_000);
        checks.Number(nameof(MaxBufferedMegabytes), MaxBufferedMegabytes ?? 1, 1, 1_048_576);
        checks.Number(nameof(MaxSessions), MaxSessions, 1, Most);
        checks.Number(nameof(MaxMessageBytes), MaxMessageBytes, 8192, 1 << 30);
        checks.Number(nameof(MaxChunkBytes), MaxChunkBytes, 8192, 1 << 20);
        checks.Number(nameof(MaxNodesPerRead), MaxNodesPerRead, 1, Most);
        checks.Number(nameof(MaxNodesPerWrite), MaxNodesPerWrite, 1, Most);
        checks.Number(nameof(MaxNodesPerBrowse), MaxNodesPerBrowse, 1, Most);
        checks.Number(nameof(MaxMethodsPerCall), MaxMethodsPerCall, 1, Most);
        checks.Number(nameof(MaxBrowseContinuationPoints), MaxBrowseContinuationPoints, 0, ushort.MaxValue);
        checks.Time(nameof(HandshakeTimeout), HandshakeTimeout, TimeSpan.FromMilliseconds(100), day);
        checks.Time(nameof(MaxTokenLifetime), MaxTokenLifetime, 10 * second, 30 * day);
        checks.Time(nameof(MaxSessionTimeout), MaxSessionTimeout, second, 30 * day);
        checks.Number(nameof(MaxSubscriptionsPerSession), MaxSubscriptionsPerSession, 0, Most);
        checks.Time(nameof(MinPublishingInterval), MinPublishingInterval, TimeSpan.FromMilliseconds(1), day);
        checks.Time(nameof(MaxSubscriptionLifetime), MaxSubscriptionLifetime, second, 30 * day);
        checks.Number(nameof(MaxPublishRequestsPerSession), MaxPublishRequestsPerSession, 1, Most);
        checks.Number(nameof(MaxNotificationsPerPublish), MaxNotificationsPerPublish, 1, Most);
        checks.Number(nameof(MaxUnacknowledgedMessages), MaxUnacknowledgedMessages, 1, Most);
        checks.Number(nameof(MaxMonitoredItemsPerCall), MaxMonitoredItemsPerCall, 1, Most);
        checks.Number(nameof(MaxMonitoredItemsPerSession), MaxMonitoredItemsPerSession, 0, Most);
        checks.Number(nameof(MaxQueueSize), MaxQueueSize, 1, Most);
        checks.Number(nameof(MaxQueuedValuesPerSession), MaxQueuedValuesPerSession, 1, int.MaxValue);
        return checks.Problems;
    }
}
