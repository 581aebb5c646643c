using FastPort.Connections;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>Log messages of the client; event ids 7100 to 7199.</summary>
internal static partial class ClientLog
{
    [LoggerMessage(7100, LogLevel.Warning, "The connection to {Endpoint} has ended: {Reason}")]
    public static partial void Disconnected(ILogger logger, string endpoint, CloseReason reason);

    [LoggerMessage(7101, LogLevel.Information, "Connected to {Endpoint} again: {Recovery}")]
    public static partial void Reconnected(ILogger logger, string endpoint, SessionRecovery recovery);

    [LoggerMessage(EventId = 7102, Message = "Cannot connect to {Endpoint}: {Problem}")]
    public static partial void ConnectFailed(ILogger logger, LogLevel level, string endpoint, string problem);

    [LoggerMessage(7103, LogLevel.Error, "A subscriber of {Event} threw")]
    public static partial void SubscriberThrew(ILogger logger, Exception exception, string @event);

    [LoggerMessage(7104, LogLevel.Warning, "Subscription {Subscription} of {Endpoint} is made again: {Status}")]
    public static partial void SubscriptionLost(ILogger logger, string endpoint, uint subscription, StatusCode status);

    [LoggerMessage(7105, LogLevel.Warning, "Subscription {Subscription} of {Endpoint} has lost {Count} notification messages")]
    public static partial void MessagesLost(ILogger logger, string endpoint, uint subscription, long count);

    [LoggerMessage(7107, LogLevel.Error, "Publishing of {Endpoint} threw; the client connects again")]
    public static partial void PublishingThrew(ILogger logger, Exception exception, string endpoint);

    [LoggerMessage(7106, LogLevel.Warning, "Publish of {Endpoint} failed: {Status}")]
    public static partial void PublishFailed(ILogger logger, string endpoint, StatusCode status);

    [LoggerMessage(7108, LogLevel.Warning, "Subscription {Subscription} of {Endpoint}: its items are not triggered again: {Status}")]
    public static partial void TriggeringRefused(ILogger logger, string endpoint, uint subscription, StatusCode status);

    [LoggerMessage(
        7110,
        LogLevel.Warning,
        "{Endpoint} refuses {Count} operations in a request ({Bulk}), though it declares no such limit. Requests are halved until it takes "
        + "them, and stay so")]
    public static partial void TooManyOperations(ILogger logger, string endpoint, Bulk bulk, int count);

    [LoggerMessage(
        7111,
        LogLevel.Warning,
        "{Endpoint} has sent what cannot be decoded as the value of {Node}: the status of such values is BadDecodingError. Said once")]
    public static partial void Undecodable(ILogger logger, string endpoint, string node);

    [LoggerMessage(
        7112,
        LogLevel.Warning,
        "The password is sent to {Endpoint} so that whoever listens can read it, as UnsafePlainPassword says")]
    public static partial void PasswordInClear(ILogger logger, string endpoint);

    [LoggerMessage(EventId = 7109, Message = "Subscription {Subscription} of {Endpoint} is not made again yet: {Problem}")]
    public static partial void SubscriptionRefused(ILogger logger, LogLevel level, string endpoint, uint subscription, string problem);
}
