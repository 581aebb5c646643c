namespace FastPort.Transports;

/// <summary>Ends of sentences for the user, about resources that the system does not grant this process.</summary>
internal static class Shortage
{
    public const string Descriptors = "out of file descriptors. Raise the process's limit (ulimit -n).";

    /// <summary>The runtime reports with an <see cref="OutOfMemoryException"/> that the system starts no thread.</summary>
    public const string Threads =
        "the system gives this process no more threads. Raise its limits: descriptors (ulimit -n), threads (ulimit -u) and memory.";
}
