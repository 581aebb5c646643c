namespace FastPort.Sessions.Streams;

/// <summary>The peer has broken a rule of streams. Each side translates it for its user.</summary>
/// <param name="code">The code for the peer, or for the caller.</param>
/// <param name="message">A sentence about it.</param>
internal sealed class StreamViolationException(ErrorCode code, string message) : Exception(message)
{
    public ErrorCode Code { get; } = code;
}
