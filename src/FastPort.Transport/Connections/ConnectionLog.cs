using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>Log messages of protocols without sessions; event ids 1050 to 1099 of the transports' range.</summary>
internal static partial class ConnectionLog
{
    [LoggerMessage(1050, LogLevel.Error, "Connection {ConnectionId}: the pipe handler threw; the connection is closed")]
    public static partial void PipeHandlerFault(ILogger logger, long connectionId, Exception exception);

    [LoggerMessage(
        1051, LogLevel.Debug, "Connection {ConnectionId}: the pipe handler ended with an exception after the connection had ended")]
    public static partial void PipeHandlerCutOff(ILogger logger, long connectionId, Exception exception);
}
