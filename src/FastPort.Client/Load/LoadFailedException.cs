using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>The run cannot start or continue.</summary>
internal sealed class LoadFailedException(string message, int exitCode, Exception? inner = null) : ProgramFailedException(
    message, exitCode, inner);
