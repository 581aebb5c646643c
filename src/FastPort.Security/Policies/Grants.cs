using FastPort.Framing;

namespace FastPort.Security.Policies;

/// <summary>The permissions of an identity: the sum of the rules for it. Immutable; shared by all identities with the same rules.</summary>
internal sealed class Grants
{
    private const ushort FirstTag = 0x0200;
    private const ushort LastTag = 0x02FF;

    private readonly TypeSet _send = new();
    private readonly NamePatterns[] _names;

    public Grants(IReadOnlyCollection<PolicyRule> rules)
    {
        foreach (PolicyRule rule in rules)
        {
            _send.UnionWith(rule.Send);
            Peers |= rule.Peers;
        }

        _names = [.. Enum.GetValues<PolicyAction>().Select(action =>
            new NamePatterns(rules.SelectMany(rule => rule.Names.GetValueOrDefault(action) ?? [])))];
        UsesTags = Enum.GetValues<PolicyAction>().Any(action => action >= PolicyAction.ReadTags && !Names(action).IsEmpty);
    }

    /// <summary>Whether peers may be listed.</summary>
    public bool Peers { get; }

    /// <summary>Whether anything may be done with tags.</summary>
    public bool UsesTags { get; }

    /// <summary>What may be named in an action.</summary>
    public NamePatterns Names(PolicyAction action) => _names[(int)action];

    /// <summary>Whether a message may be sent.</summary>
    /// <param name="type">Its type.</param>
    /// <param name="name">The topic or prefix of a topic's message, the target of a relay; null for all others.</param>
    public bool Allow(ushort type, string? name) => type switch
    {
        ControlType.Relay => Names(PolicyAction.RelayTo).Allow(name ?? string.Empty),
        ControlType.Publish => Names(PolicyAction.Publish).Allow(name ?? string.Empty),
        ControlType.Subscribe => Names(PolicyAction.Subscribe).AllowAllOf(name ?? string.Empty),

        // Ends what is the peer's own.
        ControlType.Unsubscribe => true,
        ControlType.Peers => Peers,

        // The tags themselves are checked by name, where they are served.
        >= FirstTag and <= LastTag => UsesTags,
        _ => _send.Contains(type),
    };

    /// <summary>The grants, a line each, for people.</summary>
    public IEnumerable<string> Describe()
    {
        yield return $"send: {_send}";
        foreach (PolicyAction action in Enum.GetValues<PolicyAction>())
        {
            yield return $"{PolicyReader.KeyOf(action)}: {Names(action)}";
        }

        yield return $"peers: {(Peers ? "true" : "false")}";
    }
}
