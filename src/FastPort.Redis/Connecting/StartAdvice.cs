namespace FastPort.Redis.Connecting;

/// <summary>Advice about a start that failed at Redis, if its message contains none.</summary>
internal static class StartAdvice
{
    // The second and the third are those of commands in scripts, of Redis up to 7.0 and later.
    private static readonly string[] Permission = ["NOPERM", "The user executing the script", "ACL failure in script"];

    /// <summary>A sentence that follows the message; empty for none.</summary>
    public static string For(Exception failure, string prefix)
    {
        if (Permission.Any(text => Says(failure, text)))
        {
            return $" The Redis user lacks a permission; nodes need ~{prefix}:* ~{{{prefix}:* &{prefix}:* +@all -@admin "
                + "-@dangerous +info (ACL SETUSER).";
        }

        return Says(failure, "unknown command 'spublish'") ? " A cluster must run Redis 7.0 or later: nodes use sharded channels." : "";
    }

    private static bool Says(Exception failure, string text) =>
        failure.Message.Contains(text, StringComparison.OrdinalIgnoreCase)
        || (failure.InnerException is { } inner && Says(inner, text));
}
