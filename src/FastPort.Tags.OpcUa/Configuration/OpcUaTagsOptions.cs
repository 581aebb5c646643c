using FastPort.Configuration;

namespace FastPort.Tags.OpcUa;

/// <summary>OPC UA servers, and the variables of them that are tags: configuration section <c>OpcBridge</c>.</summary>
public sealed class OpcUaTagsOptions : IDescribedOptions
{
    internal const string SectionName = "OpcBridge";

    /// <summary>The servers, each with a unique name. Defaults to none.</summary>
    public IList<OpcUaEndpointOptions> Endpoints { get; } = [];

    /// <summary>Variables with a name that you choose. Defaults to none.</summary>
    public IList<OpcUaTagOptions> Tags { get; } = [];

    /// <summary>Groups of tags that the server samples and reports alike, by name. Defaults to none.</summary>
    public IDictionary<string, OpcUaTagGroupOptions> Groups { get; } =
        new Dictionary<string, OpcUaTagGroupOptions>(StringComparer.Ordinal);

    void IDescribedOptions.Describe(OptionSection section) => Describe(section);

    internal void Describe(OptionSection section)
    {
        section.Section(nameof(Endpoints), endpoints =>
        {
            foreach (string name in endpoints.Keys.Where(name => Endpoints.All(endpoint => endpoint.Name != name)))
            {
                Endpoints.Add(new OpcUaEndpointOptions { Name = name });
            }

            foreach (OpcUaEndpointOptions endpoint in Endpoints)
            {
                endpoints.Section(endpoint.Name, endpoint.Describe);
            }
        });
        section.Section(nameof(Groups), groups =>
        {
            foreach (string name in groups.Keys)
            {
                Groups.TryAdd(name, new OpcUaTagGroupOptions());
            }

            foreach ((string name, OpcUaTagGroupOptions group) in Groups)
            {
                groups.Section(name, group.Describe);
            }
        });
        section.Section(nameof(Tags), tags =>
        {
            string[] keys = [.. tags.Keys];
            foreach (string key in keys)
            {
                var tag = new OpcUaTagOptions();
                tags.Section(key, tag.Describe);
                Tags.Add(tag);
            }

            // Without a configuration, the pass checks the existing ones.
            for (int i = 0; keys.Length == 0 && i < Tags.Count; i++)
            {
                tags.Section($"{i}", Tags[i].Describe);
            }
        });
        if (section.ChecksTogether)
        {
            CheckTogether(section);
        }
    }

    /// <summary>The group of a name; null for none.</summary>
    internal OpcUaTagGroupOptions? FindGroup(string name) => Groups.TryGetValue(name, out OpcUaTagGroupOptions? group) ? group : null;

    private void CheckTogether(OptionSection section)
    {
        foreach (OpcUaTagOptions tag in Tags)
        {
            if (tag.Endpoint.Length != 0 && Endpoints.All(endpoint => endpoint.Name != tag.Endpoint))
            {
                section.Add(
                    nameof(Tags),
                    $"'{tag.Name}' names the endpoint '{tag.Endpoint}', which is not under {nameof(Endpoints)}"
                    + $"{OfOtherCase(tag.Endpoint, Endpoints.Select(static endpoint => endpoint.Name))}.");
            }

            CheckGroup(section, nameof(Tags), $"'{tag.Name}'", tag.Group);
        }

        foreach (OpcUaEndpointOptions endpoint in Endpoints)
        {
            CheckGroup(section, nameof(Endpoints), $"'{endpoint.Name}'", endpoint.Group);
            if (endpoint.Below.Count == 0 && Tags.All(tag => tag.Endpoint != endpoint.Name))
            {
                section.Add(
                    nameof(Endpoints),
                    $"'{endpoint.Name}' has no tags: give {nameof(endpoint.Below)}, such as [ \"i=85\" ] for all variables of the server, "
                    + $"or {nameof(Tags)} with this endpoint.");
            }
        }

        if (Endpoints.Any(static endpoint => endpoint.Name.Length == 0))
        {
            section.Add(nameof(Endpoints), "an endpoint has no name; give each a name.");
        }

        foreach (IGrouping<string, OpcUaEndpointOptions> same in Endpoints
            .GroupBy(static endpoint => endpoint.Name, StringComparer.Ordinal).Where(static endpoints => endpoints.Count() > 1))
        {
            section.Add(nameof(Endpoints), $"'{same.Key}' is the name of {same.Count()} endpoints; give each its own name.");
        }

        foreach (IGrouping<string, OpcUaTagOptions> same in Tags
            .GroupBy(static tag => tag.Name, StringComparer.Ordinal).Where(static tags => tags.Count() > 1))
        {
            string nodes = string.Join(" and ", same.Select(static tag => $"{tag.Endpoint} {tag.NamespaceUri} {tag.NodeId}"));
            section.Add(nameof(Tags), $"'{same.Key}' is the name of {nodes}; give each its own name.");
        }
    }

    private void CheckGroup(OptionSection section, string key, string where, string group)
    {
        if (group.Length != 0 && !Groups.ContainsKey(group))
        {
            section.Add(key, $"{where} names the group '{group}', which is not under {nameof(Groups)}{OfOtherCase(group, Groups.Keys)}.");
        }
    }

    // An environment variable whose name differs in case replaces the spelling of the key in the file.
    private static string OfOtherCase(string name, IEnumerable<string> known) =>
        known.FirstOrDefault(one => one.Equals(name, StringComparison.OrdinalIgnoreCase)) is { } other
            ? $"; '{other}' there differs in case, which counts"
            : string.Empty;
}
