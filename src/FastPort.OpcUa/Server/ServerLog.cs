using System.Net;
using FastPort.OpcUa.SecureChannel;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Server;

/// <summary>Log messages of the server; event ids 7000 to 7099.</summary>
internal static partial class ServerLog
{
    [LoggerMessage(7000, LogLevel.Debug, "Secure channel {Channel} of {Peer} ended: {Fault}")]
    public static partial void ChannelFailed(ILogger logger, EndPoint? peer, uint channel, ChannelFault fault);

    [LoggerMessage(7001, LogLevel.Error, "Service {Service} of channel {Channel} threw; the client gets BadInternalError")]
    public static partial void ServiceThrew(ILogger logger, Exception exception, uint service, uint channel);

    [LoggerMessage(7003, LogLevel.Warning, "The certificate {Thumbprint} of {Peer} is refused: {Status}{Advice}")]
    public static partial void CertificateRefused(
        ILogger logger, EndPoint? peer, string thumbprint, StatusCode status, string advice);

    [LoggerMessage(7009, LogLevel.Warning, "The certificate of {Peer} is refused: BadCertificateUriInvalid. {Problem}")]
    public static partial void ClientUriRefused(ILogger logger, EndPoint? peer, string problem);

    [LoggerMessage(7004, LogLevel.Warning, "A user of {Peer} was refused: {Reason}")]
    public static partial void UserRefused(ILogger logger, EndPoint? peer, string reason);

    [LoggerMessage(7005, LogLevel.Error, "ValidateUser threw; the user is refused")]
    public static partial void UserCheckThrew(ILogger logger, Exception exception);

    [LoggerMessage(7002, LogLevel.Error, "Method {Method} threw; the client gets BadInternalError")]
    public static partial void MethodThrew(ILogger logger, Exception exception, NodeId method);

    [LoggerMessage(7008, LogLevel.Error, "Writing the variable {Variable} threw; the client gets BadInternalError")]
    public static partial void WriteThrew(ILogger logger, Exception exception, NodeId variable);

    [LoggerMessage(7007, LogLevel.Error, "Reading the variable {Variable} threw; its status is BadInternalError")]
    public static partial void ReadThrew(ILogger logger, Exception exception, NodeId variable);

    [LoggerMessage(7006, LogLevel.Error, "A publishing cycle of subscription {Subscription} threw; the next cycle runs as scheduled")]
    public static partial void CycleThrew(ILogger logger, Exception exception, uint subscription);
}
