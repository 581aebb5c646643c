namespace FastPort;

/// <summary>The request got an error reply or no reply.</summary>
public sealed class RequestFailedException : Exception
{
    /// <summary>The peer answered with an error. For substitutes of a client.</summary>
    /// <param name="code">The error reply's code.</param>
    /// <param name="message">The error reply's sentence.</param>
    /// <param name="detail">The error reply's detail, an encoded <c>google.protobuf.Any</c>, not copied. Defaults to none.</param>
    public RequestFailedException(ErrorCode code, string message, ReadOnlyMemory<byte> detail = default)
        : base($"{code}: {message}")
    {
        Code = code;
        Detail = detail;
    }

    /// <summary>No reply arrived. For clients that are built on this one.</summary>
    /// <param name="failure">Why.</param>
    /// <param name="message">A sentence about it.</param>
    /// <param name="inner">The cause. Defaults to null: none.</param>
    public RequestFailedException(RequestFailure failure, string message, Exception? inner = null)
        : base(message, inner)
    {
        Failure = failure;
        Code = failure == RequestFailure.TimedOut ? ErrorCode.Timeout : ErrorCode.None;
    }

    /// <summary>The error reply's code. Without a reply: Timeout if the request timed out, otherwise None.</summary>
    public ErrorCode Code { get; }

    /// <summary>
    /// The error reply's detail for programs, an encoded <c>google.protobuf.Any</c>; empty for none. FastPort.Protocol reads messages from
    /// it.
    /// </summary>
    public ReadOnlyMemory<byte> Detail { get; }

    /// <summary>Why no reply arrived; null if an error reply did.</summary>
    public RequestFailure? Failure { get; }
}
