using FastPort.OpcUa.Client;

namespace FastPort.OpcUa.Hosting;

/// <summary>The keys of an OPC UA client's section.</summary>
internal static class ClientSection
{
    public const string Name = "OpcUaClient";

    public static void Read(OpcUaClientOptions options, SectionReader section)
    {
        section.Text(nameof(options.EndpointUrl), value => options.EndpointUrl = value);
        section.Flag(nameof(options.RetryConnect), value => options.RetryConnect = value);
        section.Text(nameof(options.ApplicationUri), value => options.ApplicationUri = value);
        section.Text(nameof(options.ApplicationName), value => options.ApplicationName = value);
        section.Choice<OpcUaSecurityPolicy>(nameof(options.SecurityPolicy), value => options.SecurityPolicy = value);
        section.Choice<MessageSecurityMode>(nameof(options.SecurityMode), value => options.SecurityMode = value);
        section.Section(nameof(options.Certificates), certificates => CertificateSection.Read(options.Certificates, certificates));
        section.Text(nameof(options.UserName), value => options.UserName = value);
        section.Text(nameof(options.Password), value => options.Password = value);
        section.Time(nameof(options.ConnectTimeout), value => options.ConnectTimeout = value);
        section.Time(nameof(options.RequestTimeout), value => options.RequestTimeout = value);
        section.Time(nameof(options.TokenLifetime), value => options.TokenLifetime = value);
        section.Time(nameof(options.SessionTimeout), value => options.SessionTimeout = value);
        section.Time(nameof(options.KeepAliveInterval), value => options.KeepAliveInterval = value);
        section.Flag(nameof(options.Reconnect), value => options.Reconnect = value);
        section.Time(nameof(options.ReconnectDelay), value => options.ReconnectDelay = value);
        section.Time(nameof(options.MaxReconnectDelay), value => options.MaxReconnectDelay = value);
        section.Number(nameof(options.MaxPublishRequests), value => options.MaxPublishRequests = value);
        section.Number(nameof(options.MaxReferencesPerBrowse), value => options.MaxReferencesPerBrowse = value);
        section.Number(nameof(options.MaxMessageBytes), value => options.MaxMessageBytes = value);
        section.Number(nameof(options.MaxChunkBytes), value => options.MaxChunkBytes = value);
    }
}
