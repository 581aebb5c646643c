using Microsoft.Extensions.Logging;

namespace FastPort.Clients;

/// <summary>Log messages of the client; event ids 4000 to 4099.</summary>
internal static partial class ClientLog
{
    [LoggerMessage(4000, LogLevel.Debug, "Connected: {Session}")]
    public static partial void Connected(ILogger logger, Session session);

    [LoggerMessage(4001, LogLevel.Information, "Disconnected: {Session}: {Reason}")]
    public static partial void Disconnected(ILogger logger, Session session, CloseReason reason);

    [LoggerMessage(4002, LogLevel.Warning, "Connecting to {Endpoint} failed; the client retries. {Message}")]
    public static partial void ConnectFailed(ILogger logger, string endpoint, string message);

    [LoggerMessage(4003, LogLevel.Error, "{Session}: a subscriber of {Event} threw")]
    public static partial void SubscriberFailed(ILogger logger, Session session, string @event, Exception exception);

    [LoggerMessage(4004, LogLevel.Warning, "{Session}: resubscribing to '{Prefix}' failed: {Message} {Next}")]
    public static partial void SubscribeAgainFailed(ILogger logger, Session session, string prefix, string message, string next);

    [LoggerMessage(4005, LogLevel.Error, "{Endpoint} refused the token. {Message} {Next}")]
    public static partial void TokenRefused(ILogger logger, string endpoint, string message, string next);

    [LoggerMessage(4006, LogLevel.Error, "The client for {Endpoint} is stopping. {Message}")]
    public static partial void HelloTooLarge(ILogger logger, string endpoint, string message);
}
