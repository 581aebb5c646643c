using Microsoft.Extensions.Logging;

namespace FastPort.Sessions.Logging;

/// <summary>Log messages of sessions; event ids 2000 to 2099.</summary>
internal static partial class SessionLog
{
    [LoggerMessage(2000, LogLevel.Debug, "{Session} is open")]
    public static partial void Opened(ILogger logger, Session session);

    [LoggerMessage(2001, LogLevel.Debug, "{Session} is closed: {Reason}")]
    public static partial void Closed(ILogger logger, Session session, CloseReason reason);

    [LoggerMessage(2002, LogLevel.Warning, "{Session} is closed: {Reason}")]
    public static partial void ClosedOnFault(ILogger logger, Session session, CloseReason reason);

    [LoggerMessage(2003, LogLevel.Error, "{Session}: the handler of {Message} threw; the peer receives Internal")]
    public static partial void HandlerFailed(ILogger logger, Session session, string message, Exception exception);

    [LoggerMessage(2004, LogLevel.Error, "{Session}: the {Component} threw; the peer is refused")]
    public static partial void AuthorizationFailed(ILogger logger, Session session, string component, Exception exception);

    [LoggerMessage(2005, LogLevel.Debug, "{Session}: Hello was refused: {Message}")]
    public static partial void HelloRefused(ILogger logger, Session session, string message);

    [LoggerMessage(2006, LogLevel.Warning, "{Session}: the peer reports {Code}: {Message}")]
    public static partial void PeerError(ILogger logger, Session session, ErrorCode code, string message);

    [LoggerMessage(2008, LogLevel.Warning, "{Session}: the {Component} did not answer within {Limit}; the peer is refused")]
    public static partial void AuthorizationTimedOut(ILogger logger, Session session, string component, TimeSpan limit);

    [LoggerMessage(2007, LogLevel.Error, "{Session}: a PendingReply threw")]
    public static partial void PendingReplyFailed(ILogger logger, Session session, Exception exception);

    [LoggerMessage(
        2009, LogLevel.Warning,
        "{Session}: inline handlers blocked the loop for {Milliseconds} ms, most likely {Message}; all its connections waited. "
        + "Register the handler as queued, or make it faster")]
    public static partial void SlowHandler(ILogger logger, Session session, string message, long milliseconds);

    [LoggerMessage(
        2010, LogLevel.Warning,
        "{Session}: inline handlers have blocked the loop for {Milliseconds} ms and are still running, most likely {Message}; all its "
        + "connections are waiting")]
    public static partial void HandlerHolds(ILogger logger, Session session, string message, long milliseconds);

    [LoggerMessage(
        2012, LogLevel.Warning,
        "{Account} is over its rate of {Limit}: {Session} is not read for {Time}. Logged every 10 s per account")]
    public static partial void RateHolds(ILogger logger, string account, string limit, Session session, TimeSpan time);

    [LoggerMessage(
        2013, LogLevel.Warning,
        "{Account} is over its rate of {Limit}: requests of {Session} are refused for {Time}. Logged every 10 s per account")]
    public static partial void RateRefuses(ILogger logger, string account, string limit, Session session, TimeSpan time);

    [LoggerMessage(
        2014, LogLevel.Warning,
        "{Session}: {Messages} messages were dropped since the last report because the peer reads too slowly; {PendingBytes} bytes are "
        + "pending")]
    public static partial void Dropped(ILogger logger, Session session, long messages, long pendingBytes);

    [LoggerMessage(2015, LogLevel.Error, "{Session}: an ActivityListener threw at the end of an activity")]
    public static partial void ActivityListenerFailed(ILogger logger, Session session, Exception exception);
}
