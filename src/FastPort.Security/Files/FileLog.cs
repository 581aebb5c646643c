using Microsoft.Extensions.Logging;

namespace FastPort.Security.Files;

/// <summary>Log messages of files; event ids 9100 to 9109.</summary>
internal static partial class FileLog
{
    [LoggerMessage(9100, LogLevel.Information, "The {What} file {Path} was reloaded")]
    public static partial void Reloaded(ILogger logger, string what, string path);

    [LoggerMessage(9101, LogLevel.Error, "The {What} file could not be reloaded; its previous content stays in force. {Message}")]
    public static partial void ReloadFailed(ILogger logger, string what, string message);

    [LoggerMessage(9102, LogLevel.Error, "Applying the changed {What} file failed")]
    public static partial void SubscriberFailed(ILogger logger, string what, Exception exception);

    [LoggerMessage(9103, LogLevel.Warning, "{Path}: {Key} is of an unknown kind. Tokens signed with it are refused")]
    public static partial void KeyLeftOut(ILogger logger, string path, string key);

    [LoggerMessage(
        9104, LogLevel.Warning,
        "A token has none of the roles in the policy's rules; it has {Count} roles in the claim '{Claim}'. Compare the issuer's tokens "
        + "with Security:TokenRolesClaim and TokenRolesSeparator. Logged for one token an hour")]
    public static partial void NoRole(ILogger logger, int count, string claim);
}
