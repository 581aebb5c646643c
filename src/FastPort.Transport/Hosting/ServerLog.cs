using Microsoft.Extensions.Logging;

namespace FastPort.Hosting;

/// <summary>Log messages of the server; event ids 3000 to 3099, except 3006.</summary>
internal static partial class ServerLog
{
    [LoggerMessage(3000, LogLevel.Information, "Listening on {Endpoint}")]
    public static partial void Listening(ILogger logger, Endpoint endpoint);

    [LoggerMessage(3001, LogLevel.Warning, "A connection from {RemoteEndPoint} was rejected: {Reason} ({Rejected} rejected so far)")]
    public static partial void Rejected(ILogger logger, System.Net.EndPoint? remoteEndPoint, string reason, long rejected);

    [LoggerMessage(
        3002, LogLevel.Warning,
        "{Section}:MaxConnections is {MaxConnections}, but this process may open only {DescriptorLimit} descriptors: {Connections} "
        + "connections are accepted; further connections are closed immediately. Raise the limit (ulimit -n) or lower the option")]
    public static partial void DescriptorLimit(ILogger logger, string section, int maxConnections, long descriptorLimit, int connections);

    [LoggerMessage(3003, LogLevel.Information, "Stopping: {Connections} connections have up to {Timeout} to finish")]
    public static partial void Stopping(ILogger logger, int connections, TimeSpan timeout);

    [LoggerMessage(3004, LogLevel.Warning, "{Connections} connections have not finished and are aborted")]
    public static partial void StopAborts(ILogger logger, int connections);

    [LoggerMessage(3005, LogLevel.Information, "Stopped")]
    public static partial void Stopped(ILogger logger);

    [LoggerMessage(3007, LogLevel.Error, "The protocol of a connection from {RemoteEndPoint} could not be created or started")]
    public static partial void OpenFailed(ILogger logger, System.Net.EndPoint? remoteEndPoint, Exception exception);

    [LoggerMessage(3009, LogLevel.Warning, "{What} {Section}:RequireSecureDefaults would refuse it; see docs/security.md")]
    public static partial void Exposed(ILogger logger, string what, string section);

    [LoggerMessage(3008, LogLevel.Debug, "A stage of a connection from {RemoteEndPoint} failed")]
    public static partial void StageFailed(ILogger logger, System.Net.EndPoint? remoteEndPoint, Exception exception);

    [LoggerMessage(3010, LogLevel.Information, "Draining: connections are still accepted for {Delay}, but the server is no longer ready")]
    public static partial void Draining(ILogger logger, TimeSpan delay);
}
