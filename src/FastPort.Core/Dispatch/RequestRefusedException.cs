namespace FastPort;

/// <summary>
/// Thrown by an inline or queued handler to answer with an error other than <see cref="ErrorCode.Internal"/>. It is not logged, because it
/// is the requester's error. For a one-way message it is only counted. If refusals are frequent, call <c>Fail</c> of
/// <see cref="InlineRequest"/> or <see cref="RequestContext"/> instead, which costs no exception.
/// </summary>
/// <param name="code">
/// The code. No code closes the connection here; a client that gets <see cref="ErrorCode.ShuttingDown"/> leaves it, and makes the request
/// again on its next one.
/// </param>
/// <param name="message">A sentence for the requester. It must not contain internals.</param>
/// <param name="detail">
/// An encoded <c>google.protobuf.Any</c> for programs, not copied. It is sent if the requester's version knows details and the frame limit
/// allows it. Defaults to none. FastPort.Protocol makes it from a message.
/// </param>
public sealed class RequestRefusedException(ErrorCode code, string message, ReadOnlyMemory<byte> detail = default) : Exception(message)
{
    /// <summary>The code sent to the requester.</summary>
    public ErrorCode Code { get; } = code;

    /// <summary>The detail sent to the requester: an encoded <c>google.protobuf.Any</c>; empty for none.</summary>
    public ReadOnlyMemory<byte> Detail { get; } = detail;
}
