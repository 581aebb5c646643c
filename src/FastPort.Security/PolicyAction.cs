namespace FastPort.Security;

/// <summary>An action that a policy allows by name.</summary>
public enum PolicyAction
{
    /// <summary>Relay to the session with a routing id.</summary>
    RelayTo,

    /// <summary>Publish to a topic.</summary>
    Publish,

    /// <summary>Subscribe to the topics with a prefix.</summary>
    Subscribe,

    /// <summary>Resolve, read, browse and subscribe to tags.</summary>
    ReadTags,

    /// <summary>Write tags.</summary>
    WriteTags,

    /// <summary>Call methods.</summary>
    CallMethods,

    /// <summary>Publish tags.</summary>
    PublishTags,
}
