using FastPort.Configuration;
using FastPort.Tags.Sources;
using Microsoft.Extensions.Configuration;

namespace FastPort.OpcBridge.Configuration;

/// <summary>Section <c>OpcBridge</c>: endpoints, tags and groups, and limits of published tags.</summary>
internal sealed class BridgeSettings
{
    public const string SectionName = "OpcBridge";

    private const string EndpointsKey = "Endpoints";
    private const string PublishedKey = "Published";
    private const string TagsKey = "Tags";
    private const string GroupsKey = "Groups";

    /// <summary>Where the bridge's own OPC UA server listens.</summary>
    public string Listen { get; private set; } = "opc.tcp://127.0.0.1:48400";

    /// <summary>Whether the tags are those of the simulation, as no endpoint is configured.</summary>
    public bool IsSimulated { get; private set; }

    /// <summary>Whether clients may publish tags, which are variables of the bridge's own OPC UA server.</summary>
    public bool AllowPublish { get; private set; }

    /// <summary>Limits of what they publish.</summary>
    public PublishedTagOptions Published { get; } = new();

    public List<EndpointOptions> Endpoints { get; } = [];

    public List<TagOptions> Tags { get; } = [];

    public Dictionary<string, GroupOptions> Groups { get; } = new(StringComparer.Ordinal);

    /// <summary>Reads and checks the section.</summary>
    /// <exception cref="FastPortOptionsException">Something is not allowed; the message names all of it.</exception>
    public static BridgeSettings Read(IConfiguration configuration)
    {
        IConfigurationSection section = configuration.GetSection(SectionName);
        var settings = new BridgeSettings();
        List<string> problems = [];
        OptionSection.Visit(SectionName, problems, section, own =>
        {
            settings.Listen = own.Text(
                nameof(Listen), settings.Listen, static text => !string.IsNullOrWhiteSpace(text), "give an endpoint");
            settings.AllowPublish = own.Flag(nameof(AllowPublish), settings.AllowPublish);
            own.Section(PublishedKey, published => PublishedSection.Describe(published, settings.Published));
            own.Section(EndpointsKey, endpoints => Each(section, EndpointsKey, endpoints, (name, endpoint) =>
            {
                var options = new EndpointOptions { Name = name };
                endpoint(options.Describe);
                settings.Endpoints.Add(options);
            }));
            own.Section(GroupsKey, groups => Each(section, GroupsKey, groups, (name, group) =>
            {
                var options = new GroupOptions();
                group(options.Describe);
                settings.Groups.Add(name, options);
            }));
            own.Section(TagsKey, tags => Each(section, TagsKey, tags, (_, tag) =>
            {
                var options = new TagOptions();
                tag(options.Describe);
                settings.Tags.Add(options);
            }));
        });
        settings.Check(problems);
        return problems.Count == 0 ? settings : throw new FastPortOptionsException(problems);
    }

    /// <summary>Bridges the simulation, with everything allowed that can be tried.</summary>
    /// <param name="name">Name of its endpoint.</param>
    /// <param name="node">The node that has its variables.</param>
    public void Simulate(string name, string node)
    {
        IsSimulated = true;
        AllowPublish = true;
        Endpoints.Add(new EndpointOptions { Name = name, AllowWrite = true, Below = { node } });
    }

    // The keys of a section are names that the user has chosen.
    private static void Each(
        IConfigurationSection section, string key, OptionSection own, Action<string, Action<Action<OptionSection>>> read)
    {
        foreach (string name in section.GetSection(key).GetChildren().Select(static child => child.Key))
        {
            read(name, describe => own.Section(name, describe));
        }
    }

    private void Check(List<string> problems)
    {
        foreach (TagOptions tag in Tags)
        {
            if (tag.Endpoint.Length != 0 && Endpoints.TrueForAll(endpoint => endpoint.Name != tag.Endpoint))
            {
                problems.Add(
                    $"{SectionName}:{TagsKey}: '{tag.Name}' names the endpoint '{tag.Endpoint}', which is not under {EndpointsKey}.");
            }

            CheckGroup(problems, $"{TagsKey}: '{tag.Name}'", tag.Group);
        }

        foreach (EndpointOptions endpoint in Endpoints)
        {
            CheckGroup(problems, $"{EndpointsKey}:{endpoint.Name}", endpoint.Group);
            if (endpoint.Below.Count == 0 && Tags.TrueForAll(tag => tag.Endpoint != endpoint.Name))
            {
                problems.Add(
                    $"{SectionName}:{EndpointsKey}:{endpoint.Name} has no tags: give {nameof(EndpointOptions.Below)}, such as "
                    + $"[ \"i=85\" ] for all variables of the server, or {TagsKey} with this endpoint.");
            }
        }

        foreach (IGrouping<string, TagOptions> same in Tags
            .GroupBy(static tag => tag.Name, StringComparer.Ordinal).Where(static tags => tags.Count() > 1))
        {
            string nodes = string.Join(" and ", same.Select(static tag => $"{tag.Endpoint} {tag.NamespaceUri} {tag.NodeId}"));
            problems.Add($"{SectionName}:{TagsKey}: '{same.Key}' is the name of {nodes}; give each its own name.");
        }
    }

    private void CheckGroup(List<string> problems, string where, string group)
    {
        if (group.Length != 0 && !Groups.ContainsKey(group))
        {
            problems.Add($"{SectionName}:{where} names the group '{group}', which is not under {GroupsKey}.");
        }
    }
}
