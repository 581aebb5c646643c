using FastPort.Framing;

namespace FastPort.Dispatch;

/// <summary>
/// Thrown by a handler, inline or queued, to answer with an error of its choice instead of <see cref="ErrorCode.Internal"/>. It is not
/// logged, as it is the requester's business. Of a one-way message it is counted only. Where refusing is frequent, answer with <c>Fail</c>
/// of <see cref="InlineRequest"/> or <see cref="RequestContext"/>, which throws nothing.
/// </summary>
/// <param name="code">The code; the connection stays open whatever it is.</param>
/// <param name="message">A sentence for the requester. Name no internals.</param>
public sealed class RequestRefusedException(ErrorCode code, string message) : Exception(message)
{
    /// <summary>The code the requester gets.</summary>
    public ErrorCode Code { get; } = code;
}
