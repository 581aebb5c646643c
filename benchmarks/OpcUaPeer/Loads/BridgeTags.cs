using FastPort.Tags;

namespace OpcUaPeer.Loads;

/// <summary>Finds variables in a bridge, which on a busy machine listens before it has listed them.</summary>
internal static class BridgeTags
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);

    /// <summary>Looks up the variables with these browse names.</summary>
    /// <exception cref="PeerException">The bridge lacks one.</exception>
    public static async Task<TagList> FindAsync(TagClient client, IEnumerable<string> names)
    {
        string[] all = [.. names.Select(TagValues.Bridged)];
        long begun = TimeProvider.System.GetTimestamp();
        while (true)
        {
            TagList tags = await client.ResolveAsync(all);
            string? missing = all.Where((_, i) => tags.Infos[i] is null).FirstOrDefault();
            if (missing is null)
            {
                return tags;
            }

            if (TimeProvider.System.GetElapsedTime(begun) > Patience)
            {
                throw new PeerException($"The bridge has no tag '{missing}'.");
            }

            await Task.Delay(RetryDelay);
        }
    }
}
