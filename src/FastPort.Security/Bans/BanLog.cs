using Microsoft.Extensions.Logging;

namespace FastPort.Security.Bans;

/// <summary>Log messages of bans; event ids 9120 to 9129.</summary>
internal static partial class BanLog
{
    [LoggerMessage(9120, LogLevel.Warning, "{Ban}")]
    public static partial void Added(ILogger logger, Ban ban);

    [LoggerMessage(9121, LogLevel.Information, "The ban of {Subject} was lifted")]
    public static partial void Lifted(ILogger logger, string subject);

    [LoggerMessage(
        9122, LogLevel.Error,
        "{Bans} bans could not be written to {Path}: they end with this process. {Message}")]
    public static partial void NotWritten(ILogger logger, int bans, string path, string message);

    [LoggerMessage(9123, LogLevel.Error, "Applying {Bans} bans failed")]
    public static partial void SubscriberFailed(ILogger logger, int bans, Exception exception);
}
