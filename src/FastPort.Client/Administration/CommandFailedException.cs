using FastPort.Programs;

namespace FastPort.Client.Administration;

/// <summary>A command failed; the message says why.</summary>
/// <param name="exitCode">The program's exit code.</param>
/// <param name="message">For standard error.</param>
internal sealed class CommandFailedException(int exitCode, string message) : ProgramFailedException(message, exitCode);
