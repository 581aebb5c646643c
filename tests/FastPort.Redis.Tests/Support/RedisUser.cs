namespace FastPort.Redis.Tests.Support;

/// <summary>A user for nodes.</summary>
internal static class RedisUser
{
    /// <summary>The permissions of docs/scaling.md.</summary>
    public const string Documented = "~fastport:* ~{fastport:* &fastport:* +@all -@admin -@dangerous +info";

    /// <summary>For the text of a connection.</summary>
    public const string Credentials = "user=fastport,password=secret";

    /// <summary>Options of a server that has the user.</summary>
    public static string[] Options(string permissions) =>
        ["--user", "fastport", "on", ">secret", .. permissions.Split(' ')];
}
