using FastPort.Configuration;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa;

/// <summary>An OPC UA server, and the variables and methods of it that are tags.</summary>
public sealed class OpcUaEndpointOptions
{
    /// <summary>The endpoint's name, the first part of the names of the tags below <see cref="Below"/>. Required.</summary>
    public string Name { get; set; } = string.Empty;

    /// <summary>
    /// How to connect: address, security, user, timeouts. Defaults to the client's defaults, but reconnects at most one second after a
    /// loss.
    /// </summary>
    public OpcUaClientOptions Client { get; } = new()
    {
        RetryConnect = true,
        RequestTimeout = TimeSpan.FromSeconds(5),

        // Tags are back within 3 s of their server's return: this delay and its jitter, the session, and the list of tags.
        MaxReconnectDelay = TimeSpan.FromSeconds(1),

        // The code after an answer does not block, and a thread switch costs more than most of it.
        RunContinuationsOnLoop = true,
    };

    /// <summary>The stack that connects. Defaults to FastPort.</summary>
    public OpcUaStack Stack { get; set; }

    /// <summary>Whether tags may be written and methods called. Defaults to false.</summary>
    public bool AllowWrite { get; set; }

    /// <summary>Nodes, as <c>nsu=URI;i=85</c>; all variables and methods below them are tags. Defaults to none.</summary>
    public IList<string> Below { get; private set; } = [];

    /// <summary>Group of the tags below <see cref="Below"/>. Defaults to empty: none.</summary>
    public string Group { get; set; } = string.Empty;

    /// <summary>Maximum number of tags that browsing may find, 1 to 10,000,000. Defaults to 100,000.</summary>
    public int MaxTags { get; set; } = 100_000;

    internal void Describe(OptionSection section)
    {
        // All keys of a client: address, security, user, timeouts.
        Client.Describe(section);
        Stack = section.Choice(nameof(Stack), Stack);
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
