namespace FastPort.Core.Tests.Support;

/// <summary>What a piece of code allocates on the thread that runs it.</summary>
internal static class Allocations
{
    private const int Runs = 5;

    /// <summary>
    /// The least of some runs: the runtime may charge its own to the thread once, as when it compiles a loop anew; what the code itself
    /// allocates is in each.
    /// </summary>
    /// <param name="run">The code; it is run several times.</param>
    /// <returns>Bytes.</returns>
    public static long LeastOf(Action run)
    {
        long least = long.MaxValue;
        for (int i = 0; i < Runs; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            run();
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        return least;
    }
}
