using System.Runtime.CompilerServices;

namespace FastPort.Routing;

/// <summary>Lists of peers, which arrive in pages.</summary>
internal static class PeerPages
{
    /// <summary>All peers in order: reads a page when the previous one has been consumed, until one is empty.</summary>
    /// <param name="readAfter">Reads the page that follows a routing id.</param>
    /// <param name="after">The routing id that the first page follows; empty for the beginning.</param>
    /// <param name="cancellationToken">Cancels the read in progress.</param>
    public static async IAsyncEnumerable<PeerInfo> ReadAsync(
        Func<string, CancellationToken, ValueTask<IReadOnlyList<PeerInfo>>> readAfter,
        string after,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (await readAfter(after, cancellationToken).ConfigureAwait(false) is { Count: > 0 } page)
        {
            foreach (PeerInfo peer in page)
            {
                yield return peer;
            }

            after = page[^1].RoutingId;
        }
    }
}
