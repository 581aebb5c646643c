using FastPort.Client.Reports;
using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>The run cannot start or continue. The message may contain texts of the server.</summary>
internal sealed class LoadFailedException(string message, int exitCode, Exception? inner = null) : ProgramFailedException(
    SafeText.Message(message), exitCode, inner);
