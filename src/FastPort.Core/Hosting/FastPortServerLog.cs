using Microsoft.Extensions.Logging;

namespace FastPort.Hosting;

/// <summary>Log messages of a server about its sessions; the others of 3000 to 3099 are the connection server's.</summary>
internal static partial class FastPortServerLog
{
    [LoggerMessage(3006, LogLevel.Error, "{Session}: a subscriber of {Event} threw")]
    public static partial void SubscriberFailed(ILogger logger, Session session, string @event, Exception exception);
}
