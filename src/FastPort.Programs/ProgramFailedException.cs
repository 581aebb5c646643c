namespace FastPort.Programs;

/// <summary>Ends a program; the message states the reason and what to do.</summary>
internal abstract class ProgramFailedException(string message, int exitCode, Exception? inner = null) : Exception(message, inner)
{
    public int ExitCode { get; } = exitCode;
}
