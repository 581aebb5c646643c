using System.Security.Cryptography.X509Certificates;
using FastPort.Configuration;
using FastPort.Connections;
using FastPort.OpcUa.SecureChannel;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Options of an <see cref="OpcUaServer"/>. Every value is validated when the server is created. All have defaults except
/// <see cref="ServerOptions.Endpoints"/>, which needs at least one entry: <c>opc.tcp://host:port/path</c>, default port 4840, or
/// <c>inproc://name</c> for clients in the same process.
/// </summary>
public sealed class OpcUaServerOptions : ServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "OpcUaServer";

    // Far more than any use of it, without an overflow when two are added.
    private const int Most = 10_000_000;

    private const string ExampleEndpoints = "give a list of URIs such as opc.tcp://0.0.0.0:4840/path";

    /// <summary>The default URI of an application.</summary>
    internal static readonly string DefaultApplicationUri = $"urn:{Uri.EscapeDataString(Environment.MachineName)}:FastPort:OpcUaServer";

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    /// <summary>Creates options with default values.</summary>
    public OpcUaServerOptions()
        : base(SectionName)
    {
    }

    /// <summary>
    /// Identifies this application instance. Defaults to <c>urn:HOST:FastPort:OpcUaServer</c>, or to the URI in the certificate of
    /// <see cref="Certificates"/>, if there is already one and it is used.
    /// </summary>
    public string ApplicationUri { get; set; } = DefaultApplicationUri;

    /// <summary>Identifies the product. Defaults to <c>urn:fastport:opcua</c>.</summary>
    public string ProductUri { get; set; } = "urn:fastport:opcua";

    /// <summary>The application's display name. Defaults to <c>FastPort OPC UA server</c>.</summary>
    public string ApplicationName { get; set; } = "FastPort OPC UA server";

    /// <summary>
    /// The security policies that clients may choose, all except None with each of <see cref="SecurityModes"/>. Defaults to None and
    /// Basic256Sha256. Without None, clients can still request the endpoints without security.
    /// </summary>
    public IList<OpcUaSecurityPolicy> SecurityPolicies { get; set; } = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];

    /// <summary>How messages are protected by policies other than None. Defaults to both: signed, and signed and encrypted.</summary>
    public IList<MessageSecurityMode> SecurityModes { get; set; } = [MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt];

    /// <summary>The server's certificate and the certificates that it trusts. Used if a policy other than None is offered.</summary>
    public OpcUaCertificateOptions Certificates { get; } = new();

    /// <summary>Whether clients without a user may activate sessions. Defaults to true.</summary>
    public bool AllowAnonymous { get; set; } = true;

    /// <summary>
    /// Checks a user's name and password. Null for no users. Defaults to null. Passwords are only accepted encrypted. Called on the thread
    /// pool, on at most half as many threads as there are processors: it may compute a hash, but must not wait.
    /// </summary>
    public Func<string, string, CancellationToken, ValueTask<bool>>? ValidateUser { get; set; }

    /// <summary>
    /// Maximum number of secure channels, including connections that have not opened one. At the limit the oldest one without an activated
    /// session is closed for a new one (OPC 10000-4, 5.5.2). Defaults to 2,000.
    /// </summary>
    public int MaxSecureChannels { get; set; } = 2000;

    /// <summary>
    /// Decides whether the owner of a certificate is a user. The client has proved that it has the key, which must be RSA, and the
    /// certificate is within its validity period; the callback must check its issuer. The certificate is disposed when the callback has
    /// completed. Called as <see cref="ValidateUser"/> is. Null for no such users. Defaults to null (OPC 10000-4, 7.41.5).
    /// </summary>
    public Func<X509Certificate2, CancellationToken, ValueTask<bool>>? ValidateUserCertificate { get; set; }

    /// <summary>
    /// The users as identities, for programs with permissions per user; replaces <see cref="ValidateUser"/> and
    /// <see cref="ValidateUserCertificate"/>, which must then be null. Defaults to null: these are used.
    /// </summary>
    public IOpcUaUsers? Users { get; set; }

    /// <summary>
    /// Decides which clients may read and write the values of variables. A refused access gets BadUserAccessDenied, as does a monitored
    /// item for each value that its session may not read at the time. Not called for other attributes, browsing and methods. Called under a
    /// variable's lock: it must not wait for a lock under which the program sets variables. Defaults to null: no limits.
    /// </summary>
    public VariableAuthorizer? AuthorizeVariable { get; set; }

    /// <summary>
    /// The bans, for a program that fills the list itself; servers may share one. A banned address gets no connection and loses its
    /// existing connections; a banned user gets no session and loses its existing sessions. Defaults to null: no bans.
    /// </summary>
    public BanList? Bans { get; set; }

    /// <summary>
    /// Maximum number of sessions, including ended sessions whose subscriptions can still be transferred. When there is no room, the oldest
    /// unused session is removed: an ended session first, then a session that was never activated, then a session without a connection.
    /// Defaults to 1,000.
    /// </summary>
    public int MaxSessions { get; set; } = 1000;

    /// <summary>Largest request and response, in bytes; 8 KiB to 1 GiB. Defaults to 16 MiB.</summary>
    public int MaxMessageBytes { get; set; } = 16 * 1024 * 1024;

    /// <summary>Largest chunk, in bytes; 8,192 to 1 MiB. Defaults to 65,535.</summary>
    public int MaxChunkBytes { get; set; } = 65_535;

    /// <summary>Maximum number of nodes of a Read. Defaults to 10,000.</summary>
    public int MaxNodesPerRead { get; set; } = 10_000;

    /// <summary>Maximum number of nodes of a Write. Defaults to 10,000.</summary>
    public int MaxNodesPerWrite { get; set; } = 10_000;

    /// <summary>
    /// Maximum number of nodes of a Browse, BrowseNext or RegisterNodes, and of paths of a TranslateBrowsePathsToNodeIds. Defaults to
    /// 1,000.
    /// </summary>
    public int MaxNodesPerBrowse { get; set; } = 1000;

    /// <summary>Maximum number of methods of a Call. Defaults to 100.</summary>
    public int MaxMethodsPerCall { get; set; } = 100;

    /// <summary>
    /// Maximum number of Calls, and of Writes that <see cref="VariableNode.OnWrite"/> handles, that run at a time for a session, and for a
    /// secure channel, where those of ended sessions may still run. Others get BadTooManyOperations. Defaults to 1,000.
    /// </summary>
    public int MaxRunningRequestsPerSession { get; set; } = 1000;

    /// <summary>
    /// Maximum number of continuation points of a session, 1 to 65,535. A request that needs more frees the oldest ones of earlier
    /// requests. Defaults to 10.
    /// </summary>
    public int MaxBrowseContinuationPoints { get; set; } = 10;

    /// <summary>Time in which a connection must open its secure channel. Defaults to 10 s.</summary>
    public TimeSpan HandshakeTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Longest lifetime of a secure channel's token; shorter requested lifetimes of at least 10 s are granted. Defaults to 1 hour.
    /// </summary>
    public TimeSpan MaxTokenLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Longest lifetime of a session without a request; shorter requested lifetimes of at least 1 s are granted. Defaults to 1 hour.
    /// </summary>
    public TimeSpan MaxSessionTimeout { get; set; } = TimeSpan.FromHours(1);

    /// <summary>Maximum number of subscriptions of a session (OPC 10000-4, 5.14.2). Defaults to 100.</summary>
    public int MaxSubscriptionsPerSession { get; set; } = 100;

    /// <summary>
    /// Shortest time between two publishing cycles of a subscription, and between two calls of <see cref="VariableNode.OnRead"/> for a
    /// monitored item. Shorter requested times are raised to it. Defaults to 10 ms.
    /// </summary>
    public TimeSpan MinPublishingInterval { get; set; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// Longest lifetime of a subscription whose client sends no Publish; its lifetime count times its publishing interval. Publishing and
    /// keep-alive intervals are at most a third of it (OPC 10000-4, 5.14.2). Defaults to 1 hour.
    /// </summary>
    public TimeSpan MaxSubscriptionLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Maximum number of waiting Publish requests of a session. If one more arrives, the oldest gets BadTooManyPublishRequests (OPC
    /// 10000-4, 5.14.5). Defaults to 20.
    /// </summary>
    public int MaxPublishRequestsPerSession { get; set; } = 20;

    /// <summary>
    /// Maximum number of notifications of a Publish response; a client may ask for fewer. Defaults to 10,000. A response also ends at 1
    /// MiB, or at half of the largest message that client and server accept if that is less.
    /// </summary>
    public int MaxNotificationsPerPublish { get; set; } = 10_000;

    /// <summary>
    /// Maximum number of messages that a subscription keeps for Republish until they are acknowledged; beyond it, the oldest is dropped
    /// (OPC 10000-4, 5.14.6). Together they use at most <see cref="MaxMessageBytes"/> of memory, or there is only one; see also
    /// <see cref="MaxQueuedBytesPerSession"/>. Defaults to 100.
    /// </summary>
    public int MaxUnacknowledgedMessages { get; set; } = 100;

    /// <summary>
    /// Maximum number of items of a CreateMonitoredItems, ModifyMonitoredItems, SetMonitoringMode or DeleteMonitoredItems, and links of a
    /// SetTriggering. Defaults to 10,000.
    /// </summary>
    public int MaxMonitoredItemsPerCall { get; set; } = 10_000;

    /// <summary>Maximum number of monitored items of a session, and of links between them. Defaults to 100,000.</summary>
    public int MaxMonitoredItemsPerSession { get; set; } = 100_000;

    /// <summary>
    /// Maximum number of values in a monitored item's queue; larger requested queues are reduced to it (OPC 10000-4, 5.13.2). Defaults to
    /// 1,000.
    /// </summary>
    public int MaxQueueSize { get; set; } = 1000;

    /// <summary>
    /// Maximum number of values in the queues of all monitored items of a session, counted by the requested sizes. An item beyond it gets a
    /// queue of one value. Defaults to 1,000,000.
    /// </summary>
    public int MaxQueuedValuesPerSession { get; set; } = 1_000_000;

    /// <summary>
    /// Maximum number of bytes of values that monitored items of a session hold, to be reported or compared with the next ones: values
    /// larger than 1 KiB, all parts of a value, and all values of <see cref="VariableNode.OnRead"/>. Beyond it, such a value replaces all
    /// values in its item's queue, regardless of its sampling interval and deadband; items get no more parts or values of callbacks; new
    /// items for parts or large values are refused. The messages that all subscriptions of a session keep for Republish have the same
    /// limit; beyond it, the oldest is dropped. Defaults to 64 MiB.
    /// </summary>
    public int MaxQueuedBytesPerSession { get; set; } = 64 * 1024 * 1024;

    internal override void Describe(OptionSection section)
    {
        base.Describe(section);
        if (Endpoints.Count == 0)
        {
            section.Refuse(nameof(Endpoints), "empty", ExampleEndpoints);
        }

        foreach (string url in Endpoints)
        {
            if (Endpoint.TryParse(url, out Endpoint? endpoint, out _) && endpoint.Scheme is not (OpcUaServer.Scheme or "inproc"))
            {
                section.Refuse(nameof(Endpoints), $"'{url}'", ExampleEndpoints);
            }
        }

        if (section.ChecksTogether && (Tls.CertificateFile.Length != 0 || Tls.CertificateFolder.Length != 0
            || Tls.UseDevelopmentCertificate || Tls.ClientCertificates != ClientCertificateMode.None))
        {
            section.Refuse(nameof(Tls), "set, but OPC UA has its own security", "use SecurityPolicies and Certificates");
        }

        ApplicationUri = section.Text(
            nameof(ApplicationUri), ApplicationUri, ApplicationCertificate.CanBeFor, "give an absolute URI in ASCII");
        ProductUri = section.Text(nameof(ProductUri), ProductUri, IsUri, "give an absolute URI");
        ApplicationName = section.Text(
            nameof(ApplicationName), ApplicationName, static text => !string.IsNullOrWhiteSpace(text), "give a name");
        SecurityPolicies = section.Choices(nameof(SecurityPolicies), SecurityPolicies);
        SecurityModes = section.Choices(nameof(SecurityModes), SecurityModes);
        if (SecurityModes.Any(static mode => mode is not (MessageSecurityMode.Sign or MessageSecurityMode.SignAndEncrypt)))
        {
            section.Refuse(nameof(SecurityModes), string.Join(", ", SecurityModes), "allowed: Sign, SignAndEncrypt");
        }

        section.Section(nameof(Certificates), Certificates.Describe);
        AllowAnonymous = section.Flag(nameof(AllowAnonymous), AllowAnonymous);
        if (Users is not null && (ValidateUser is not null || ValidateUserCertificate is not null))
        {
            section.Refuse(nameof(Users), "given together with ValidateUser or ValidateUserCertificate", "keep one of them");
        }

        MaxSecureChannels = section.Number(
            nameof(MaxSecureChannels), MaxSecureChannels, 1, section.ChecksTogether ? ConnectionLimit : int.MaxValue);
        HandshakeTimeout = section.Time(nameof(HandshakeTimeout), HandshakeTimeout, 100 * Millisecond, Day);
        MaxTokenLifetime = section.Time(nameof(MaxTokenLifetime), MaxTokenLifetime, 10 * Second, 30 * Day);
        DescribeMessages(section);
        DescribeSessions(section);
    }

    /// <inheritdoc/>
    protected internal override ConnectionSettings CreateSettings(ConnectionClock clock, ILogger logger) => new()
    {
        Clock = clock,
        Logger = logger,

        // A message being received is in a separate buffer; a ring holds one chunk.
        MaxReceiveBytes = Math.Max(2 * MaxChunkBytes, 256 * 1024),
        MaxSendBytes = MaxSendBytes,
    };

    // Two messages, in addition to the bytes that wait when reading of requests stops.
    internal int MaxSendBytes => (int)Math.Min((2L * MaxMessageBytes) + (2 << 20), 1 << 30);

    private void DescribeMessages(OptionSection section)
    {
        MaxMessageBytes = section.Number(nameof(MaxMessageBytes), MaxMessageBytes, 8192, 1 << 30);
        MaxChunkBytes = section.Number(nameof(MaxChunkBytes), MaxChunkBytes, 8192, 1 << 20);
        MaxNodesPerRead = Limit(section, nameof(MaxNodesPerRead), MaxNodesPerRead);
        MaxNodesPerWrite = Limit(section, nameof(MaxNodesPerWrite), MaxNodesPerWrite);
        MaxNodesPerBrowse = Limit(section, nameof(MaxNodesPerBrowse), MaxNodesPerBrowse);
        MaxMethodsPerCall = Limit(section, nameof(MaxMethodsPerCall), MaxMethodsPerCall);
        MaxMonitoredItemsPerCall = Limit(section, nameof(MaxMonitoredItemsPerCall), MaxMonitoredItemsPerCall);
    }

    private void DescribeSessions(OptionSection section)
    {
        MaxSessions = Limit(section, nameof(MaxSessions), MaxSessions);
        MaxSessionTimeout = section.Time(nameof(MaxSessionTimeout), MaxSessionTimeout, Second, 30 * Day);
        MaxRunningRequestsPerSession = Limit(section, nameof(MaxRunningRequestsPerSession), MaxRunningRequestsPerSession);
        MaxBrowseContinuationPoints = section.Number(
            nameof(MaxBrowseContinuationPoints), MaxBrowseContinuationPoints, 1, ushort.MaxValue);
        MaxSubscriptionsPerSession = section.Number(nameof(MaxSubscriptionsPerSession), MaxSubscriptionsPerSession, 0, Most);
        MinPublishingInterval = section.Time(nameof(MinPublishingInterval), MinPublishingInterval, Millisecond, Day);
        MaxSubscriptionLifetime = section.Time(nameof(MaxSubscriptionLifetime), MaxSubscriptionLifetime, Second, 30 * Day);
        MaxPublishRequestsPerSession = Limit(section, nameof(MaxPublishRequestsPerSession), MaxPublishRequestsPerSession);
        MaxNotificationsPerPublish = Limit(section, nameof(MaxNotificationsPerPublish), MaxNotificationsPerPublish);
        MaxUnacknowledgedMessages = Limit(section, nameof(MaxUnacknowledgedMessages), MaxUnacknowledgedMessages);
        MaxMonitoredItemsPerSession = section.Number(nameof(MaxMonitoredItemsPerSession), MaxMonitoredItemsPerSession, 0, Most);
        MaxQueueSize = Limit(section, nameof(MaxQueueSize), MaxQueueSize);
        MaxQueuedBytesPerSession = section.Number(nameof(MaxQueuedBytesPerSession), MaxQueuedBytesPerSession, 1, int.MaxValue);
        MaxQueuedValuesPerSession = section.Number(nameof(MaxQueuedValuesPerSession), MaxQueuedValuesPerSession, 1, int.MaxValue);
    }

    private static int Limit(OptionSection section, string key, int value) => section.Number(key, value, 1, Most);

    private static bool IsUri(string? text) => Uri.TryCreate(text, UriKind.Absolute, out _);
}
