using System.Security.Cryptography.X509Certificates;
using FastPort.Configuration;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;

namespace FastPort.OpcUa.Client;

/// <summary>Options of an <see cref="OpcUaClient"/>. Every value has a default and is checked when the client connects.</summary>
public sealed class OpcUaClientOptions : ClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "OpcUaClient";

    /// <summary>The default URI of an application.</summary>
    internal static readonly string DefaultApplicationUri = $"urn:{Uri.EscapeDataString(Environment.MachineName)}:FastPort:OpcUaClient";

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    /// <summary>
    /// Creates options with default values. <see cref="ClientOptions.ConnectTimeout"/> is for connection, secure channel and session
    /// together and defaults to 10 s; <see cref="ClientOptions.MaxReconnectDelay"/> defaults to 5 s.
    /// </summary>
    public OpcUaClientOptions()
        : base(SectionName)
    {
        ConnectTimeout = TimeSpan.FromSeconds(10);
        MaxReconnectDelay = TimeSpan.FromSeconds(5);
    }

    /// <summary>
    /// The server of a client in a host: <c>opc.tcp://host:port/path</c>, default port 4840. Ignored by <c>OpcUaClient.ConnectAsync</c>,
    /// which takes the server as an argument. Defaults to <c>opc.tcp://127.0.0.1:4840</c>.
    /// </summary>
    public string EndpointUrl { get; set; } = "opc.tcp://127.0.0.1:4840";

    /// <summary>
    /// Identifies this application instance. Defaults to <c>urn:HOST:FastPort:OpcUaClient</c>, or to the URI in the certificate of
    /// <see cref="Certificates"/>, if there is already one and it is used.
    /// </summary>
    public string ApplicationUri { get; set; } = DefaultApplicationUri;

    /// <summary>The application's display name. Defaults to <c>FastPort OPC UA client</c>.</summary>
    public string ApplicationName { get; set; } = "FastPort OPC UA client";

    /// <summary>The security policy. Defaults to None.</summary>
    public OpcUaSecurityPolicy SecurityPolicy { get; set; }

    /// <summary>Whether messages are only signed, or also encrypted. Defaults to SignAndEncrypt; ignored for policy None.</summary>
    public MessageSecurityMode SecurityMode { get; set; } = MessageSecurityMode.SignAndEncrypt;

    /// <summary>
    /// The client's certificate and the certificates that it trusts. Used with a policy other than None, and with <see cref="UserName"/>.
    /// </summary>
    public OpcUaCertificateOptions Certificates { get; } = new();

    /// <summary>The user's name; null for none. Defaults to null.</summary>
    public string? UserName { get; set; }

    /// <summary>
    /// The user's password. It is sent only encrypted, for which the server's certificate must be trusted, even with policy None. See also
    /// <see cref="UnsafePlainPassword"/>.
    /// </summary>
    public string Password { get; set; } = string.Empty;

    /// <summary>
    /// Whether the password is sent unencrypted, readable by anyone who captures the traffic, to a server that accepts it in no other way:
    /// for devices without encryption, in a trusted network. If the server offers encryption, the password is still encrypted. Defaults to
    /// false.
    /// </summary>
    public bool UnsafePlainPassword { get; set; }

    /// <summary>
    /// The certificate of the user, with its RSA key, instead of a name; null for none. The caller disposes it, after the client. Defaults
    /// to null.
    /// </summary>
    public X509Certificate2? UserCertificate { get; set; }

    /// <summary>
    /// Time after which a request fails with BadTimeout, and that a request waits for a connection; above 0, up to a day. Defaults to 30 s.
    /// </summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Requested lifetime of the secure channel's token; the client renews it after this time regardless of the lifetime that the server
    /// grants; 1 s to a day. Defaults to 1 hour.
    /// </summary>
    public TimeSpan TokenLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Requested session timeout: the lifetime of the session without requests, and thus how long a server keeps it when the connection is
    /// lost; 1 s to a day. Defaults to 2 minutes.
    /// </summary>
    public TimeSpan SessionTimeout { get; set; } = TimeSpan.FromMinutes(2);

    /// <summary>
    /// How often the client reads the server's state to notice a dead server and to keep the session alive; at least twice per session
    /// timeout. A server that has neither answered nor sent anything else by the next read is dead; during a method call, it has until the
    /// call's <see cref="RequestTimeout"/>. A server that serves one request at a time must execute all other requests within this
    /// interval. Up to a day; zero for never. Defaults to 5 s.
    /// </summary>
    public TimeSpan KeepAliveInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Maximum number of Publish requests that wait at the server, for all subscriptions; 1 to 100. Defaults to 10.</summary>
    public int MaxPublishRequests { get; set; } = 10;

    /// <summary>
    /// Number of references of a node that one Browse requests; more are fetched with BrowseNext; 1 or more. Defaults to 1,000.
    /// </summary>
    public int MaxReferencesPerBrowse { get; set; } = 1000;

    /// <summary>
    /// Largest response, in bytes; 8 KiB to 1 GiB. Also the maximum number of bytes that wait to be sent, and thus the largest request, but
    /// at least two chunks of <see cref="MaxChunkBytes"/>. Defaults to 256 MiB.
    /// </summary>
    public int MaxMessageBytes { get; set; } = 256 * 1024 * 1024;

    /// <summary>Largest chunk, in bytes; 8,192 to 1 MiB. Defaults to 65,535.</summary>
    public int MaxChunkBytes { get; set; } = 65_535;

    // A chunk is written as a whole, however small messages are.
    internal int MaxSendBytes => Math.Max(MaxMessageBytes, 2 * MaxChunkBytes);

    internal override void Describe(OptionSection section)
    {
        base.Describe(section);
        EndpointUrl = section.Text(nameof(EndpointUrl), EndpointUrl, static _ => true, string.Empty);
        if (!Endpoint.TryParse(EndpointUrl, out Endpoint? endpoint, out string? problem))
        {
            section.Add(nameof(EndpointUrl), problem);
        }
        else if (endpoint.Scheme is not (OpcUaServer.Scheme or "inproc"))
        {
            section.Refuse(nameof(EndpointUrl), $"'{EndpointUrl}'", "give a URL such as opc.tcp://10.0.0.5:4840/path");
        }

        ApplicationUri = section.Text(
            nameof(ApplicationUri), ApplicationUri, ApplicationCertificate.CanBeFor, "give an absolute URI in ASCII");
        ApplicationName = section.Text(
            nameof(ApplicationName), ApplicationName, static text => !string.IsNullOrWhiteSpace(text), "give a name");
        SecurityPolicy = section.Choice(nameof(SecurityPolicy), SecurityPolicy);
        SecurityMode = section.Choice(nameof(SecurityMode), SecurityMode);
        if (section.ChecksTogether && SecurityPolicy != OpcUaSecurityPolicy.None
            && SecurityMode is not (MessageSecurityMode.Sign or MessageSecurityMode.SignAndEncrypt))
        {
            section.Refuse(nameof(SecurityMode), $"{SecurityMode}", "allowed with a security policy: Sign, SignAndEncrypt");
        }

        section.Section(nameof(Certificates), Certificates.Describe);
        UserName = section.Text(nameof(UserName), UserName, static _ => true, string.Empty);
        Password = section.Secret(nameof(Password), Password, static text => text is null ? "give a string, empty for none" : null);
        UnsafePlainPassword = section.Flag(nameof(UnsafePlainPassword), UnsafePlainPassword);
        if (UserCertificate is { HasPrivateKey: false })
        {
            section.Refuse(nameof(UserCertificate), "a certificate without a private key", "give one with its key");
        }

        if (UserName is not null && UserCertificate is not null)
        {
            section.Refuse(nameof(UserName), "given together with UserCertificate", "a client has one user");
        }

        RequestTimeout = section.Time(nameof(RequestTimeout), RequestTimeout, TimeSpan.FromMilliseconds(1), Day);
        TokenLifetime = section.Time(nameof(TokenLifetime), TokenLifetime, Second, Day);
        SessionTimeout = section.Time(nameof(SessionTimeout), SessionTimeout, Second, Day);
        KeepAliveInterval = section.Time(
            nameof(KeepAliveInterval),
            KeepAliveInterval,
            static time => time == TimeSpan.Zero || (time >= TimeSpan.FromMilliseconds(1) && time <= Day),
            $"allowed: 00:00:00 (off) and 00:00:00.0010000 to {Day:c}");
        MaxPublishRequests = section.Number(nameof(MaxPublishRequests), MaxPublishRequests, 1, 100);
        MaxReferencesPerBrowse = section.Number(nameof(MaxReferencesPerBrowse), MaxReferencesPerBrowse, 1, int.MaxValue);
        MaxMessageBytes = section.Number(nameof(MaxMessageBytes), MaxMessageBytes, 8192, 1 << 30);
        MaxChunkBytes = section.Number(nameof(MaxChunkBytes), MaxChunkBytes, 8192, 1 << 20);
    }

    /// <exception cref="FastPortOptionsException">A value is not allowed.</exception>
    internal void ThrowIfInvalid()
    {
        if (Validate() is { Count: > 0 } problems)
        {
            throw new FastPortOptionsException(problems);
        }
    }
}
