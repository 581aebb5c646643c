using Microsoft.Extensions.Logging;

namespace FastPort.Security.Files;

/// <summary>Log messages of files; event ids 9100 to 9109.</summary>
internal static partial class FileLog
{
    [LoggerMessage(9100, LogLevel.Information, "The {What} file {Path} was read again")]
    public static partial void Reloaded(ILogger logger, string what, string path);

    [LoggerMessage(9101, LogLevel.Error, "The {What} file was not read again; what was read before stays in force. {Message}")]
    public static partial void ReloadFailed(ILogger logger, string what, string message);

    [LoggerMessage(9102, LogLevel.Error, "What follows from the changed {What} file failed")]
    public static partial void SubscriberFailed(ILogger logger, string what, Exception exception);

    [LoggerMessage(9103, LogLevel.Warning, "{Path}: {Key} has an unknown kind. Tokens that it signs are refused")]
    public static partial void KeyLeftOut(ILogger logger, string path, string key);

    [LoggerMessage(
        9104, LogLevel.Warning,
        "A token has no role that the policy has a rule for; it has {Count} in the claim '{Claim}'. Compare the tokens of the issuer with "
        + "Security:TokenRolesClaim and TokenRolesSeparator. Said of one token an hour")]
    public static partial void NoRole(ILogger logger, int count, string claim);
}
