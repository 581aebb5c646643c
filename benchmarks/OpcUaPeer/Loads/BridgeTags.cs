using FastPort.Protocol.Tags.Clients;
using FastPortPeer;

namespace OpcUaPeer.Loads;

/// <summary>Finds variables in a bridge.</summary>
internal static class BridgeTags
{
    /// <summary>Looks up the variables with these browse names.</summary>
    /// <exception cref="PeerException">The bridge lacks one.</exception>
    public static async Task<TagList> FindAsync(TagClient client, IEnumerable<string> names)
    {
        TagList tags = await client.ResolveAsync(names.Select(TagValues.Bridged));
        for (int i = 0; i < tags.Count; i++)
        {
            if (tags.Infos[i] is null)
            {
                throw new PeerException($"The bridge has no tag '{tags.Names[i]}'.");
            }
        }

        return tags;
    }
}
