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
        told.Spin(() =>
        {
            Console.WriteLine($"alone={alone} beside-one={CountAtOnce(adaptive)}");
            return true;
        });
    }

    // One after the other they all may, so that each finds that spinning pays.
    private static void WaitShortly(LoopWaiting waiting)
    {
        for (int i = 0; i < ShortWaits; i++)
        {
            waiting.Spin(static () => true);
            waiting.Woken();
        }
    }

    // Each that spins has the others try meanwhile.
    private static int CountAtOnce(LoopWaiting[] all, int from = 0)
    {
        if (from == all.Length)
        {
            return 0;
        }

        int count = 0;
        bool spins = all[from].Spin(() =>
        {
            count = 1 + CountAtOnce(all, from + 1);
            return true;
        });
        return spins ? count : CountAtOnce(all, from + 1);
    }
}
