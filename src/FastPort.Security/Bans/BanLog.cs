using FastPort.Limits;
using Microsoft.Extensions.Logging;

namespace FastPort.Security.Bans;

/// <summary>Log messages of bans; event ids 9110 to 9119.</summary>
internal static partial class BanLog
{
    [LoggerMessage(9110, LogLevel.Warning, "{Ban}")]
    public static partial void Added(ILogger logger, Ban ban);

    [LoggerMessage(9111, LogLevel.Information, "The ban of {Subject} was lifted")]
    public static partial void Lifted(ILogger logger, string subject);

    [LoggerMessage(
        9112, LogLevel.Error, "{Ban}, but this could not be written to {Path}: it ends when that file is read again. {Message}")]
    public static partial void NotWritten(ILogger logger, Ban ban, string path, string message);
}
