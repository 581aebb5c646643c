using FastPort.Configuration;
using FastPort.OpcUa.Client;

namespace FastPort.OpcBridge.Configuration;

/// <summary>An OPC UA server whose tags are bridged.</summary>
internal sealed class EndpointOptions
{
    /// <summary>First part of the names of tags that have none of their own.</summary>
    public string Name { get; set; } = string.Empty;

    /// <summary>How to connect: address, security, user, timeouts.</summary>
    public OpcUaClientOptions Client { get; } = new()
    {
        RetryConnect = true,
        RequestTimeout = TimeSpan.FromSeconds(5),

        // Tags are back within 3 s of their server's return: this delay and its jitter, the session, and the list of tags.
        MaxReconnectDelay = TimeSpan.FromSeconds(1),

        // Nothing that follows an answer blocks, and a change of threads costs more than most of it.
        RunContinuationsOnLoop = true,
    };

    /// <summary>Whether tags may be written.</summary>
    public bool AllowWrite { get; set; }

    /// <summary>Nodes, as <c>nsu=URI;i=85</c>, of which all variables and methods below are tags.</summary>
    public IList<string> Below { get; set; } = [];

    /// <summary>Group of the tags below; empty for none.</summary>
    public string Group { get; set; } = string.Empty;

    /// <summary>Most tags that browsing may find.</summary>
    public int MaxTags { get; set; } = 100_000;

    public void Describe(OptionSection section)
    {
        // All keys of a client: address, security, user, timeouts.
        Client.Describe(section);
        AllowWrite = section.Flag(nameof(AllowWrite), AllowWrite);
        Below = section.List(nameof(Below), Below, "give a list of node ids");
        foreach (string node in Below.Where(static text => !NodeReference.TryParse(text, out _)))
        {
            section.Refuse(nameof(Below), $"'{node}'", NodeReference.Form);
        }

        Group = section.Text(nameof(Group), Group, static text => text is not null, "give a group's name");
        MaxTags = section.Number(nameof(MaxTags), MaxTags, 1, 10_000_000);
    }
}
