using FastPort.Transports;

namespace FastPort.TestHost;

/// <summary>
/// Prints how many loops of this process may spin at the same time by themselves: with nobody else, and beside one that was told to.
/// </summary>
internal static class SpinnersMode
{
    private const int ShortWaits = 100;

    public static void Run()
    {
        // One more than can ever be allowed to.
        LoopWaiting[] adaptive = [.. Enumerable.Range(0, Environment.ProcessorCount + 1).Select(static _ => new LoopWaiting(null))];
        foreach (LoopWaiting waiting in adaptive)
        {
            WaitShortly(waiting);
        }

        int alone = CountAtOnce(adaptive);
        var told = new LoopWaiting(100);
        told.TryBegin();
        Console.WriteLine($"alone={alone} beside-one={CountAtOnce(adaptive)}");
        told.EndSpin();
    }

    // One after the other they all may, so that each finds that spinning pays.
    private static void WaitShortly(LoopWaiting waiting)
    {
        for (int i = 0; i < ShortWaits; i++)
        {
            waiting.TryBegin();
            waiting.EndSpin();
            waiting.Woken();
        }
    }

    private static int CountAtOnce(LoopWaiting[] all)
    {
        int count = all.Count(static waiting => waiting.TryBegin());
        foreach (LoopWaiting waiting in all)
        {
            waiting.EndSpin();
        }

        return count;
    }
}
