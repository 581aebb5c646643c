namespace FastPort.OpcUa.Client;

/// <summary>Options of an <see cref="OpcUaClient"/>.</summary>
public sealed class OpcUaClientOptions
{
    /// <summary>Identifies this application instance. Defaults to <c>urn:HOST:FastPort:OpcUaClient</c>.</summary>
    public string ApplicationUri { get; set; } = $"urn:{Environment.MachineName}:FastPort:OpcUaClient";

    /// <summary>The application's name for people. Defaults to <c>FastPort OPC UA client</c>.</summary>
    public string ApplicationName { get; set; } = "FastPort OPC UA client";

    /// <summary>The security policy. Defaults to None.</summary>
    public OpcUaSecurityPolicy SecurityPolicy { get; set; }

    /// <summary>
    /// Whether messages are only signed, or encrypted too. Defaults to SignAndEncrypt; without meaning for policy None.
    /// </summary>
    public MessageSecurityMode SecurityMode { get; set; } = MessageSecurityMode.SignAndEncrypt;

    /// <summary>The client's certificate and those that it trusts. Used with a policy other than None.</summary>
    public OpcUaCertificateOptions Certificates { get; } = new();

    /// <summary>The user's name; null for none. Defaults to null.</summary>
    public string? UserName { get; set; }

    /// <summary>The user's password. It is sent encrypted, or not at all.</summary>
    public string Password { get; set; } = string.Empty;

    /// <summary>Time for connection, secure channel and session together. Defaults to 10 s.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Time after which a request fails with BadTimeout. Defaults to 30 s.</summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Life of the secure channel's token that is asked for. Defaults to 1 hour.</summary>
    public TimeSpan TokenLifetime { get; set; } = TimeSpan.FromHours(1);

    /// <summary>Life of the session without requests that is asked for. Defaults to 2 minutes.</summary>
    public TimeSpan SessionTimeout { get; set; } = TimeSpan.FromMinutes(2);

    /// <summary>References of a node that one Browse asks for; more are fetched with BrowseNext. Defaults to 1,000.</summary>
    public int MaxReferencesPerBrowse { get; set; } = 1000;

    /// <summary>Largest response, in bytes; 8 KiB to 1 GiB. Defaults to 256 MiB.</summary>
    public int MaxMessageBytes { get; set; } = 256 * 1024 * 1024;

    /// <summary>Largest chunk, in bytes; 8,192 to 1 MiB. Defaults to 65,535.</summary>
    public int MaxChunkBytes { get; set; } = 65_535;
}
