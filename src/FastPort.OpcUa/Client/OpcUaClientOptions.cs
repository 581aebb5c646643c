using System.Security.Cryptography.X509Certificates;
using FastPort.Clients;
using FastPort.Configuration;
using FastPort.OpcUa.SecureChannel;
using FastPort.Transports;

namespace FastPort.OpcUa.Client;

/// <summary>Options of an <see cref="OpcUaClient"/>. Every value has a default and is checked when the client connects.</summary>
public sealed class OpcUaClientOptions : ClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "OpcUaClient";

    /// <summary>The URI of an application that has chosen none.</summary>
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
    /// The server of a client that a host makes: <c>opc.tcp://host:port/path</c>, default port 4840. Without meaning for
    /// <c>OpcUaClient.ConnectAsync</c>, which is told the server. Defaults to <c>opc.tcp://127.0.0.1:4840</c>.
    /// </summary>
    public string EndpointUrl { get; set; } = "opc.tcp://127.0.0.1:4840";

    /// <summary>
    /// Identifies this application instance. Defaults to <c>urn:HOST:FastPort:OpcUaClient</c>, or to the URI in the certificate of
    /// <see cref="Certificates"/>, where there is one already and it is used.
    /// </summary>
    public string ApplicationUri { get; set; } = DefaultApplicationUri;

    /// <summary>The application's name for people. Defaults to <c>FastPort OPC UA client</c>.</summary>
    public string ApplicationName { get; set; } = "FastPort OPC UA client";

    /// <summary>The security policy. Defaults to None.</summary>
    public OpcUaSecurityPolicy SecurityPolicy { get; set; }

    /// <summary>
    /// Whether messages are only signed, or encrypted too. Defaults to SignAndEncrypt; without meaning for policy None.
    /// </summary>
    public MessageSecurityMode SecurityMode { get; set; } = MessageSecurityMode.SignAndEncrypt;

    /// <summary>
    /// The client's certificate and those that it trusts. Used with a policy other than None, and with <see cref="UserName"/>.
    /// </summary>
    public OpcUaCertificateOptions Certificates { get; } = new();

    /// <summary>The user's name; null for none. Defaults to null.</summary>
    public string? UserName { get; set; }

    /// <summary>
    /// The user's password. It is sent encrypted, or not at all; with policy None too the server's certificate must be trusted for that.
    /// See also <see cref="UnsafePlainPassword"/>.
    /// </summary>
    public string Password { get; set; } = string.Empty;

    /// <summary>
    /// Whether the password is sent so that whoever listens can read it, to a server that takes it in no other way: for devices without
    /// encryption, in a network where nobody else is. Where the server offers to encrypt it, it is encrypted all the same. Defaults to
    /// false.
    /// </summary>
    public bool UnsafePlainPassword { get; set; }

    /// <summary>
    /// The certificate of the user, with its RSA key, instead of a name; null for none. The caller disposes it, after the client. Defaults
    /// to null.
    /// </summary>
    public X509Certificate2? UserCertificate { get; set; }

    /// <summary>
    /// Time after which a request fails with BadTimeout, and that one waits for a connection; above 0, up to a day. Defaults to 30 s.
    /// </summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Life of the secure channel's token that is asked for, and after which it is renewed whatever the server grants; 1 s to a day.
    /// Defaults to 1 hour.
    /// </summary>
    public TimeSpan TokenLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Life of the session without requests that is asked for, and so how long a server keeps it when the connection is lost; 1 s to a day.
    /// Defaults to 2 minutes.
    /// </summary>
    public TimeSpan SessionTimeout { get; set; } = TimeSpan.FromMinutes(2);

    /// <summary>
    /// How often the server's state is read, so that a dead server is noticed and the session stays; at least twice per session timeout.
    /// One that has not answered by the next time, nor sent anything else, is dead. While a method is called it has until the call's
    /// <see cref="RequestTimeout"/>; a server that serves one request at a time must execute all others within this interval. Up to a day;
    /// zero for never. Defaults to 5 s.
    /// </summary>
    public TimeSpan KeepAliveInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Publish requests that wait at the server at most, for all subscriptions; 1 to 100. Defaults to 10.</summary>
    public int MaxPublishRequests { get; set; } = 10;

    /// <summary>References of a node that one Browse asks for; more are fetched with BrowseNext; 1 or more. Defaults to 1,000.</summary>
    public int MaxReferencesPerBrowse { get; set; } = 1000;

    /// <summary>
    /// Largest response, in bytes; 8 KiB to 1 GiB. Also the most that may wait to be sent, and so the largest request, but at least two
    /// chunks of <see cref="MaxChunkBytes"/>. Defaults to 256 MiB.
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
        if (!Endpoint.TryParse(EndpointUrl, out _, out string? problem))
        {
            section.Add(nameof(EndpointUrl), problem);
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
            section.Refuse(nameof(SecurityMode), $"{SecurityMode}", "with a security policy allowed are Sign, SignAndEncrypt");
        }

        section.Section(nameof(Certificates), Certificates.Describe);
        UserName = section.Text(nameof(UserName), UserName, static _ => true, string.Empty);
        Password = section.Secret(nameof(Password), Password, static text => text is null ? "give a text, empty for none" : null);
        UnsafePlainPassword = section.Flag(nameof(UnsafePlainPassword), UnsafePlainPassword);
        if (UserCertificate is { HasPrivateKey: false })
        {
            section.Refuse(nameof(UserCertificate), "a certificate without private key", "give one with its key");
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
            $"allowed are 00:00:00 (off) and 00:00:00.0010000 to {Day:c}");
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
