using FastPort.Programs;

namespace FastPort.Client.Tags;

/// <summary>A command of tags cannot be run.</summary>
internal sealed class TagCommandFailedException(string message, int exitCode, Exception? inner = null)
    : ProgramFailedException(message, exitCode, inner);
