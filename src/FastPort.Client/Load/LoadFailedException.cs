namespace FastPort.Client.Load;

/// <summary>The run cannot begin or go on; the message says why and what to do.</summary>
internal sealed class LoadFailedException(string message, int exitCode, Exception? inner = null) : Exception(message, inner)
{
    public int ExitCode { get; } = exitCode;
}
