using StackExchange.Redis;

namespace FastPort.Redis.Directory;

/// <content>
/// Finds ids whose keys Redis has evicted, or that were removed or overwritten. To read a key costs Redis a fifth of what it costs to set
/// it again, so this is done once in a lease for each id.
/// </content>
internal sealed partial class ClaimDirectory
{
    // For all nodes together: about a quarter of the capacity of one Redis.
    private const double ReadsPerSecond = 200_000;

    /// <summary>Whether Redis is a cluster, in which one command reads keys of one slot only.</summary>
    public bool IsCluster { get; init; }

    // The ids whose keys do not have their values.
    private async Task<List<OwnId>> FindChangedAsync(List<OwnId> ids)
    {
        List<OwnId> changed = [];
        int lost = 0;
        try
        {
            foreach (OwnId[] some in ids.Chunk(KeptAtOnce))
            {
                long[] tokens = [.. some.Select(static own => own.Token)];
                RedisValue[] values = await ReadAsync([.. some.Select(own => Key(own.Utf8))]).ConfigureAwait(false);
                for (int i = 0; i < some.Length; i++)
                {
                    // An id that was claimed or given up in the meantime has another value for that reason.
                    if (tokens[i] != 0 && values[i] != Value(tokens[i]) && tokens[i] == some[i].Token && !some[i].IsGone)
                    {
                        changed.Add(some[i]);
                        lost += Location.TryParse(values[i], out _) ? 0 : 1;
                    }
                }
            }
        }
        catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException)
        {
            // Checked in the next round. The renewals of the lease report problems of Redis.
        }

        if (lost != 0)
        {
            BackplaneLog.KeysLost(logger, lost);
        }

        return changed;
    }

    // A key of another type has no value here.
    private Task<RedisValue[]> ReadAsync(RedisKey[] keys) => IsCluster
        ? Task.WhenAll(keys.Select(ReadOneAsync))
        : redis.StringGetAsync(keys);

    private async Task<RedisValue> ReadOneAsync(RedisKey key)
    {
        try
        {
            return await redis.StringGetAsync(key).ConfigureAwait(false);
        }
        catch (RedisServerException e) when (e.Message.StartsWith("WRONGTYPE", StringComparison.Ordinal))
        {
            return RedisValue.Null;
        }
    }
}
