using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>Log messages of the client; event ids 7100 to 7199.</summary>
internal static partial class ClientLog
{
    [LoggerMessage(7100, LogLevel.Warning, "The connection to {Endpoint} has ended: {Reason}")]
    public static partial void Disconnected(ILogger logger, string endpoint, CloseReason reason);

    [LoggerMessage(7101, LogLevel.Information, "Reconnected to {Endpoint}: {Recovery}")]
    public static partial void Reconnected(ILogger logger, string endpoint, SessionRecovery recovery);

    [LoggerMessage(EventId = 7102, Message = "Cannot connect to {Endpoint}: {Problem}")]
    public static partial void ConnectFailed(ILogger logger, LogLevel level, string endpoint, string problem);

    [LoggerMessage(7103, LogLevel.Error, "A subscriber of {Event} threw")]
    public static partial void SubscriberThrew(ILogger logger, Exception exception, string @event);

    [LoggerMessage(7104, LogLevel.Warning, "Subscription {Subscription} of {Endpoint} was recreated: {Status}")]
    public static partial void SubscriptionLost(ILogger logger, string endpoint, uint subscription, StatusCode status);

    [LoggerMessage(7105, LogLevel.Warning, "Subscription {Subscription} of {Endpoint} has lost {Count} notification messages")]
    public static partial void MessagesLost(ILogger logger, string endpoint, uint subscription, long count);

    [LoggerMessage(7107, LogLevel.Error, "Publishing for {Endpoint} threw; the client reconnects")]
    public static partial void PublishingThrew(ILogger logger, Exception exception, string endpoint);

    [LoggerMessage(7106, LogLevel.Warning, "A Publish request to {Endpoint} failed: {Status}")]
    public static partial void PublishFailed(ILogger logger, string endpoint, StatusCode status);

    [LoggerMessage(
        7108, LogLevel.Warning,
        "Subscription {Subscription} of {Endpoint}: the server does not restore a triggering link of its items: {Status}")]
    public static partial void TriggeringRefused(ILogger logger, string endpoint, uint subscription, StatusCode status);

    [LoggerMessage(
        7110,
        LogLevel.Warning,
        "{Endpoint} refuses {Count} operations in a request ({Bulk}), although it declares no such limit. The client halves its requests "
        + "until the server accepts them, and keeps to that size")]
    public static partial void TooManyOperations(ILogger logger, string endpoint, Bulk bulk, int count);

    [LoggerMessage(
        7111,
        LogLevel.Warning,
        "{Endpoint} sent a value of {Node} that cannot be decoded: such values get the status BadDecodingError. Logged once")]
    public static partial void Undecodable(ILogger logger, string endpoint, string node);

    [LoggerMessage(
        7112,
        LogLevel.Warning,
        "The password is sent to {Endpoint} unencrypted, as UnsafePlainPassword allows: anyone who captures the traffic can read it")]
    public static partial void PasswordInClear(ILogger logger, string endpoint);

    [LoggerMessage(EventId = 7109, Message = "Subscription {Subscription} of {Endpoint} could not be recreated yet: {Problem}")]
    public static partial void SubscriptionRefused(ILogger logger, LogLevel level, string endpoint, uint subscription, string problem);
}
