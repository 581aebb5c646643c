using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis.Connecting;

/// <summary>
/// Whether Redis removes keys when its memory is full. Then another node can claim an id whose session lives, and the id has two sessions
/// until its node finds the key missing.
/// </summary>
internal sealed class EvictionPolicy(IConnectionMultiplexer redis, ILogger logger)
{
    private const string Safe = "noeviction";
    private const string InfoField = "maxmemory_policy:";

    private string? _problem;
    private string? _unknown;

    /// <summary>The sentence about the servers that may remove keys; null if none was found.</summary>
    public string? Problem => Volatile.Read(ref _problem);

    /// <summary>Asks the servers that accept writes, and logs new findings. One call at a time.</summary>
    public async Task ReadAsync()
    {
        List<string> unsafeServers = [];
        string? unknown = null;
        foreach (IServer server in redis.GetServers().Where(static one => one is { IsConnected: true, IsReplica: false }))
        {
            string where = EndPointCollection.ToString(server.EndPoint);
            string? policy = await ReadInfoAsync(server).ConfigureAwait(false) ?? await ReadConfigAsync(server).ConfigureAwait(false);
            if (policy is null)
            {
                unknown ??= where;
            }
            else if (policy != Safe)
            {
                unsafeServers.Add($"{where}: {policy}");
            }
        }

        string? problem = unsafeServers.Count == 0 ? null
            : $"The maxmemory-policy of Redis is not noeviction ({string.Join("; ", unsafeServers)}): it may evict a routing id, which can "
                + "then have two sessions for up to a lease.";
        if (problem is not null && problem != _problem)
        {
            BackplaneLog.MayEvict(logger, problem);
        }

        if (unknown is not null && unknown != _unknown)
        {
            BackplaneLog.EvictionUnknown(logger, unknown);
        }

        Volatile.Write(ref _problem, problem);
        _unknown = unknown;
    }

    // Null if the user may not ask, or a managed Redis does not report it; as the other overload.
    private static async Task<string?> ReadInfoAsync(IServer server)
    {
        try
        {
            string info = await server.InfoRawAsync("memory").ConfigureAwait(false) ?? string.Empty;
            return info.Split('\n', StringSplitOptions.TrimEntries)
                .FirstOrDefault(static line => line.StartsWith(InfoField, StringComparison.Ordinal))?[InfoField.Length..];
        }
        catch (Exception e) when (IsRefusal(e))
        {
            return null;
        }
    }

    private static async Task<string?> ReadConfigAsync(IServer server)
    {
        try
        {
            KeyValuePair<string, string>[] values = await server.ConfigGetAsync("maxmemory-policy").ConfigureAwait(false);
            return values is [var only] ? only.Value : null;
        }
        catch (Exception e) when (IsRefusal(e))
        {
            return null;
        }
    }

    // The connection text may have disabled a command: then the client refuses it.
    private static bool IsRefusal(Exception e) =>
        e is RedisException or RedisCommandException or TimeoutException or ObjectDisposedException or OperationCanceledException;
}
