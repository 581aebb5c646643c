namespace FastPort.Comparisons.Hostile;

/// <summary>The input of a process that is told to end by its end.</summary>
internal static class ProcessInput
{
    /// <summary>Completes at the end of the input. The console's reader blocks whoever reads, asynchronously or not.</summary>
    public static Task EndAsync() => Task.Factory.StartNew(
        static () => Console.In.ReadToEnd(), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
}
