namespace FastPort.Redis.Members;

/// <summary>
/// The scripts on the table of nodes. Both keys have the same hash tag, so a cluster keeps them together. Times are Redis's own: the
/// clocks of nodes may differ.
/// </summary>
internal static class MembershipScripts
{
    /// <summary>
    /// Takes or renews a lease. Keys: the sorted set of nodes by the end of their leases in milliseconds, the set's version. Arguments: the
    /// node, its lease in milliseconds, the version it knows, "name " if it joins and must be the only one of its name.
    /// <para>
    /// Returns 1 if the lease continued, 0 if it began, -1 and the other node if the name is taken; then the version; then, if the version
    /// is another one, all nodes. A key of another type is overwritten: the lease began then.
    /// </para>
    /// </summary>
    public const string Renew = """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
        if ARGV[4] ~= '' then
          for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now, '+inf')) do
            if node ~= ARGV[1] and string.sub(node, 1, #ARGV[4]) == ARGV[4] then return {-1, node} end
          end
        end
        local goesOn = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0
        redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
        local dead = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
        local version = redis.pcall('GET', KEYS[2])
        if goesOn == 0 or dead > 0 or type(version) ~= 'string' then
          version = time[1] .. '.' .. time[2] .. '.' .. ARGV[1]
          redis.call('SET', KEYS[2], version)
        end
        if version == ARGV[3] then return {goesOn, version} end
        return {goesOn, version, unpack(redis.call('ZRANGE', KEYS[1], 0, 5000))}
        """;

    /// <summary>Gives up a lease. Keys and the first argument as in <see cref="Renew"/>.</summary>
    public const string Leave = """
        if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then
          local time = redis.call('TIME')
          redis.call('SET', KEYS[2], time[1] .. '.' .. time[2] .. '.' .. ARGV[1])
        end
        """;
}
