using System.Net;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard;

/// <summary>Log messages of the dashboard: event ids 9000 to 9099. The id of a message never changes.</summary>
internal static partial class DashboardLog
{
    [LoggerMessage(9000, LogLevel.Warning, "The dashboard's figures could not be read; retried in one second")]
    internal static partial void SampleFailed(ILogger logger, Exception error);

    [LoggerMessage(9001, LogLevel.Warning, "Wrong dashboard token from {Address}; {Count} so far")]
    internal static partial void WrongToken(ILogger logger, IPAddress address, long count);

    // Warnings, so that no change of the log level hides them.
    [LoggerMessage(9002, LogLevel.Warning, "Dashboard action by {Address}: {Action}")]
    internal static partial void Acted(ILogger logger, IPAddress address, string action);

    [LoggerMessage(9003, LogLevel.Information, "Dashboard on {Url}")]
    internal static partial void Listening(ILogger logger, string url);

    [LoggerMessage(9004, LogLevel.Warning, "The dashboard shows no application counts: one of the count functions threw")]
    internal static partial void CountsFailed(ILogger logger, Exception error);

    [LoggerMessage(
        9005, LogLevel.Warning,
        "Requests for '{Host}' are refused, the last from {Address}. If the name belongs to the dashboard, add it to "
        + "Dashboard:AllowedHosts")]
    internal static partial void UnknownHost(ILogger logger, string host, IPAddress address);
}
