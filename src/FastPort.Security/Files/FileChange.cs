namespace FastPort.Security.Files;

/// <summary>One change of a file at a time, by any process: its <c>.lock</c> file is held during the change.</summary>
internal static class FileChange
{
    // A change takes milliseconds. A change that finds the lock taken for this long fails.
    private static readonly TimeSpan LockTime = TimeSpan.FromSeconds(10);

    /// <summary>Begins a change, which ends when the result is disposed. Waits up to 10 s for another change.</summary>
    /// <param name="path">The file; it need not exist.</param>
    /// <exception cref="IOException">Another change takes too long, or the lock file cannot be created.</exception>
    /// <exception cref="UnauthorizedAccessException">The lock file may not be opened or created.</exception>
    // Called by commands, and by the server on a thread of the pool after a ban; no message waits for it. The system releases the lock of a
    // process that ends, so a leftover file locks nothing.
    public static IDisposable Begin(string path)
    {
        long began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            try
            {
                return PrivateFile.OpenLock(path + ".lock", path);
            }
            catch (IOException) when (TimeProvider.System.GetElapsedTime(began) < LockTime)
            {
                Thread.Sleep(20);
            }
        }
    }
}
