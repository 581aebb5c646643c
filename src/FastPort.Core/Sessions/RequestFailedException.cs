using FastPort.Framing;

namespace FastPort.Sessions;

/// <summary>A request got an error reply, or none.</summary>
public sealed class RequestFailedException : Exception
{
    internal RequestFailedException(ErrorCode code, string message)
        : base($"{code}: {message}") => Code = code;

    internal RequestFailedException(RequestFailure failure, string message, Exception? inner = null)
        : base(message, inner)
    {
        Failure = failure;
        Code = failure == RequestFailure.TimedOut ? ErrorCode.Timeout : ErrorCode.None;
    }

    /// <summary>The error reply's code; None where no reply came (Timeout where that is why).</summary>
    public ErrorCode Code { get; }

    /// <summary>Why no reply came; null where an error reply did.</summary>
    public RequestFailure? Failure { get; }
}
