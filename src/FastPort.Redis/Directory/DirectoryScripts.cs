namespace FastPort.Redis.Directory;

/// <summary>
/// The scripts on the key of one routing id, whose value is the owner's instance (16 digits), a colon, and a token that grows with each
/// claim. Each has one key, so a cluster can keep ids anywhere.
/// </summary>
internal static class DirectoryScripts
{
    /// <summary>
    /// Claims an id that is free, already has this owner, or has the value that the caller has found to be outdated. Arguments: the
    /// instance, that value or "", the key's time to live in milliseconds. Returns 1 and the new value, or 0 and the current one.
    /// </summary>
    public const string Claim = """
        local value = redis.pcall('GET', KEYS[1])
        if type(value) == 'table' then return {0, 'of another type'} end
        if value and string.sub(value, 1, 16) ~= ARGV[1] and value ~= ARGV[2] then return {0, value} end
        local time = redis.call('TIME')
        local token = time[1] * 1000000 + time[2]
        if value then
          local last = tonumber(string.sub(value, 18))
          if token <= last then token = last + 1 end
        end
        value = ARGV[1] .. ':' .. string.format('%.0f', token)
        redis.call('SET', KEYS[1], value, 'PX', ARGV[3])
        return {1, value}
        """;

    /// <summary>
    /// Keeps a claim. Arguments: its value, the time to live in milliseconds. Returns the key's value: another one if the id belongs to a
    /// later claim, of the same node or another. An earlier value is that of a replica before it became the master. A value that is not a
    /// claim, or of another type, is overwritten. A token of more than 18 digits, which may exceed 64 bits, is not valid.
    /// </summary>
    public const string Keep = """
        local value = redis.pcall('GET', KEYS[1])
        if type(value) == 'string' and value ~= ARGV[1] then
          local last = tonumber(string.match(value, '^' .. string.rep('%x', 16) .. ':(%d+)$'))
          if last and #value <= 35 and last >= tonumber(string.sub(ARGV[1], 18)) then
            if string.sub(value, 1, 16) == string.sub(ARGV[1], 1, 16) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
            return value
          end
        end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return ARGV[1]
        """;

    /// <summary>Gives up a claim, unless the id now belongs to another claim. Argument: its value.</summary>
    public const string Release = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
        """;
}
