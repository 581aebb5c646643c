using Microsoft.Extensions.Logging;

namespace FastPort.Tags.Serving;

internal static partial class ServingLog
{
    [LoggerMessage(8000, LogLevel.Information, "Tag source {Source} is connected")]
    public static partial void SourceConnected(ILogger logger, string source);

    [LoggerMessage(
        8001, LogLevel.Warning,
        "Tag source {Source} has lost its connection: its tags have the status BadNoCommunication until it reconnects")]
    public static partial void SourceLost(ILogger logger, string source);

    [LoggerMessage(8002, LogLevel.Warning, "{Operation} of tag source {Source} did not finish within {Timeout}")]
    public static partial void SourceTimedOut(ILogger logger, string source, string operation, TimeSpan timeout);

    [LoggerMessage(8003, LogLevel.Error, "{Operation} of tag source {Source} threw")]
    public static partial void SourceThrew(ILogger logger, Exception exception, string source, string operation);

    [LoggerMessage(8004, LogLevel.Error, "{Operation} of tag source {Source} returned {Count} samples for {Tags} tags")]
    public static partial void WrongCount(ILogger logger, string source, string operation, int tags, int count);

    [LoggerMessage(
        8005, LogLevel.Warning, "A feed of tag source {Source} with interval {Interval} has ended: {Reason}. Another feed is opened")]
    public static partial void FeedEnded(ILogger logger, string source, TimeSpan interval, TagStatus reason);

    [LoggerMessage(8006, LogLevel.Error, "The authorizer threw for tag {Tag}; read access to it is revoked")]
    public static partial void AuthorizerThrew(ILogger logger, Exception exception, string tag);
}
