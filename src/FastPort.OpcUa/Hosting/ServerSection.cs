using FastPort.OpcUa.Server;

namespace FastPort.OpcUa.Hosting;

/// <summary>The keys of an OPC UA server's section.</summary>
internal static class ServerSection
{
    public const string Name = "OpcUaServer";

    public static void Read(OpcUaServerOptions options, SectionReader section)
    {
        section.List(nameof(options.Endpoints), urls => ReplaceAll(options.Endpoints, urls));
        section.Text(nameof(options.ApplicationUri), value => options.ApplicationUri = value);
        section.Text(nameof(options.ProductUri), value => options.ProductUri = value);
        section.Text(nameof(options.ApplicationName), value => options.ApplicationName = value);
        section.Choices<OpcUaSecurityPolicy>(nameof(options.SecurityPolicies), values => options.SecurityPolicies = values);
        section.Choices<MessageSecurityMode>(nameof(options.SecurityModes), values => options.SecurityModes = values);
        section.Section(nameof(options.Certificates), certificates => CertificateSection.Read(options.Certificates, certificates));
        section.Flag(nameof(options.AllowAnonymous), value => options.AllowAnonymous = value);
        section.Number(nameof(options.MaxSessions), value => options.MaxSessions = value);
        section.Number(nameof(options.MaxMessageBytes), value => options.MaxMessageBytes = value);
        section.Number(nameof(options.MaxChunkBytes), value => options.MaxChunkBytes = value);
        section.Number(nameof(options.MaxNodesPerRead), value => options.MaxNodesPerRead = value);
        section.Number(nameof(options.MaxNodesPerWrite), value => options.MaxNodesPerWrite = value);
        section.Number(nameof(options.MaxNodesPerBrowse), value => options.MaxNodesPerBrowse = value);
        section.Number(nameof(options.MaxMethodsPerCall), value => options.MaxMethodsPerCall = value);
        section.Number(nameof(options.MaxBrowseContinuationPoints), value => options.MaxBrowseContinuationPoints = value);
        section.Time(nameof(options.HandshakeTimeout), value => options.HandshakeTimeout = value);
        section.Time(nameof(options.MaxTokenLifetime), value => options.MaxTokenLifetime = value);
        section.Time(nameof(options.MaxSessionTimeout), value => options.MaxSessionTimeout = value);
        section.Number(nameof(options.MaxSubscriptionsPerSession), value => options.MaxSubscriptionsPerSession = value);
        section.Time(nameof(options.MinPublishingInterval), value => options.MinPublishingInterval = value);
        section.Time(nameof(options.MaxSubscriptionLifetime), value => options.MaxSubscriptionLifetime = value);
        section.Number(nameof(options.MaxPublishRequestsPerSession), value => options.MaxPublishRequestsPerSession = value);
        section.Number(nameof(options.MaxNotificationsPerPublish), value => options.MaxNotificationsPerPublish = value);
        section.Number(nameof(options.MaxUnacknowledgedMessages), value => options.MaxUnacknowledgedMessages = value);
        section.Number(nameof(options.MaxMonitoredItemsPerCall), value => options.MaxMonitoredItemsPerCall = value);
        section.Number(nameof(options.MaxMonitoredItemsPerSession), value => options.MaxMonitoredItemsPerSession = value);
        section.Number(nameof(options.MaxQueueSize), value => options.MaxQueueSize = value);
        section.Number(nameof(options.MaxQueuedValuesPerSession), value => options.MaxQueuedValuesPerSession = value);
    }

    private static void ReplaceAll(IList<string> list, IList<string> items)
    {
        list.Clear();
        foreach (string item in items)
        {
            list.Add(item);
        }
    }
}
