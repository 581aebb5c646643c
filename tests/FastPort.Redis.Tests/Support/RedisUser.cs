namespace FastPort.Redis.Tests.Support;

/// <summary>A user for nodes.</summary>
internal static class RedisUser
{
    /// <summary>The permissions of docs/nodes-redis.md.</summary>
    public const string Documented = "~fastport:* ~{fastport:* &fastport:* +@all -@admin -@dangerous +info";

    public const string Name = "fastport";

    public const string Password = "secret";

    /// <summary>For the text of a connection.</summary>
    public const string Credentials = $"user={Name},password={Password}";

    /// <summary>Options of a server that has the user.</summary>
    public static string[] Options(string permissions) =>
        ["--user", "fastport", "on", ">secret", .. permissions.Split(' ')];
}
