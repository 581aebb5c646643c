using FastPort.Configuration;
using FastPort.Tags;
using FastPort.Tags.OpcUa;
using Microsoft.Extensions.Configuration;

namespace FastPort.OpcBridge.Configuration;

/// <summary>Section <c>OpcBridge</c>: endpoints, tags and groups, the bridge's own OPC UA server, and limits of published tags.</summary>
internal sealed class BridgeSettings
{
    private const string PublishedKey = "Published";

    /// <summary>Where the bridge's own OPC UA server listens.</summary>
    public string Listen { get; private set; } = "opc.tcp://127.0.0.1:48400";

    /// <summary>Whether the tags are those of the simulation, as no endpoint is configured.</summary>
    public bool IsSimulated { get; private set; }

    /// <summary>Whether clients may publish tags, which appear as variables of the bridge's own OPC UA server.</summary>
    public bool AllowPublish { get; private set; }

    /// <summary>Limits of what they publish.</summary>
    public PublishedTagOptions Published { get; } = new();

    /// <summary>Endpoints, tags and groups.</summary>
    public OpcUaTagsOptions Tags { get; } = new();

    /// <summary>Reads and checks the section.</summary>
    /// <param name="configuration">The program's configuration.</param>
    /// <param name="problems">Receives a sentence for every value that is not allowed.</param>
    public static BridgeSettings Read(IConfiguration configuration, ICollection<string> problems)
    {
        var settings = new BridgeSettings();
        OptionSection.Visit(
            OpcUaTagsOptions.SectionName, problems, configuration.GetSection(OpcUaTagsOptions.SectionName), settings.Describe);
        return settings;
    }

    /// <summary>Bridges the simulation, with all features enabled.</summary>
    /// <param name="name">Name of its endpoint.</param>
    /// <param name="node">The node that has its variables.</param>
    public void Simulate(string name, string node)
    {
        IsSimulated = true;
        AllowPublish = true;
        Tags.Endpoints.Add(new OpcUaEndpointOptions { Name = name, AllowWrite = true, Below = { node } });
    }

    private void Describe(OptionSection section)
    {
        Listen = section.Text(nameof(Listen), Listen, static text => !string.IsNullOrWhiteSpace(text), "give an endpoint");
        AllowPublish = section.Flag(nameof(AllowPublish), AllowPublish);
        section.Section(PublishedKey, published => PublishedSection.Describe(published, Published));
        Tags.Describe(section);
    }
}
