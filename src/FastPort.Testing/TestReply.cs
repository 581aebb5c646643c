namespace FastPort.Testing;

/// <summary>The answer of a handler, as its client received it.</summary>
/// <param name="Body">The reply's body; empty for an error.</param>
/// <param name="Error">The error's code; <see cref="ErrorCode.None"/> for a reply.</param>
/// <param name="Message">The error's sentence; empty for a reply.</param>
public sealed record TestReply(ReadOnlyMemory<byte> Body, ErrorCode Error, string Message);
