using FastPort.Client.Reports;
using FastPort.Programs;

namespace FastPort.Client.Tags;

/// <summary>A command of tags cannot be run. The message may contain texts of the server.</summary>
internal sealed class TagCommandFailedException(string message, int exitCode, Exception? inner = null)
    : ProgramFailedException(SafeText.Message(message), exitCode, inner);
