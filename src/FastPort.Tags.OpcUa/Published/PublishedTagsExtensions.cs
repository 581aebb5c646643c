using FastPort.OpcUa.Server;
using FastPort.Tags.OpcUa.Published;

namespace FastPort.Tags.OpcUa;

/// <summary>Shows published tags to OPC UA clients.</summary>
public static class PublishedTagsExtensions
{
    /// <summary>
    /// Adds the tags that FastPort clients publish as variables below <c>Objects/Published</c>, now and as they are declared: folders by
    /// the parts of their names, the name as node id, in namespace <c>urn:fastport:published</c>. Writes go to the publishers. Call it
    /// once, before clients can declare tags, for instance in the <c>addNodes</c> of <c>AddOpcUaServer</c>.
    /// </summary>
    /// <param name="space">The address space of an <see cref="OpcUaServer"/>.</param>
    /// <param name="source">Receives the tags.</param>
    public static void AddPublishedTags(this AddressSpace space, PublishedTagSource source)
    {
        ArgumentNullException.ThrowIfNull(space);
        ArgumentNullException.ThrowIfNull(source);
        _ = new PublishedNodes(space, source);
    }
}
