using System.Diagnostics;

namespace FastPort.Transports.InProcess;

/// <summary>
/// How long a pump that has run out of work waits on its thread before it gives the thread back. A peer that answers soon finds it there, which saves both
/// sides a wake-up by the system, many times as long as the answer itself. Mutable; one per pump, for that pump alone.
/// <para>
/// Waiting is bounded (<see cref="Longest"/>) and has to pay: each time in vain costs a try, each time that something came gives all of them back. So a link
/// that is used now and then soon does not wait at all, until something comes right after the pump has gone. It is not done where this process has one
/// core only, nor while other work waits for a thread.
/// </para>
/// </summary>
internal struct IdleSpin
{
    private const int Tries = 8;

    // Rounds between looks at the clock and at the pool.
    private const int Rounds = 25;

    private static readonly long Longest = Stopwatch.Frequency / 1_000_000 * 50;
    private static readonly bool HasCores = Environment.ProcessorCount > 1;

    private int _failures;
    private long _wentAt;

    /// <summary>Waits until the word is another than the one expected; false where it did not change in time.</summary>
    public bool Wait(ref int word, int expected)
    {
        if (!HasCores || _failures >= Tries)
        {
            return false;
        }

        long start = Stopwatch.GetTimestamp();
        do
        {
            for (int i = 0; i < Rounds; i++)
            {
                if (Volatile.Read(ref word) != expected)
                {
                    _failures = 0;
                    return true;
                }

                Thread.SpinWait(1);
            }

            if (ThreadPool.PendingWorkItemCount != 0)
            {
                return false;
            }
        }
        while (Stopwatch.GetTimestamp() - start < Longest);
        _failures++;
        return false;
    }

    /// <summary>The thread is given back.</summary>
    public void Went() => _wentAt = Stopwatch.GetTimestamp();

    /// <summary>The pump runs again.</summary>
    public void Came()
    {
        if (_failures != 0 && Stopwatch.GetTimestamp() - _wentAt < Longest)
        {
            // Waiting would have paid.
            _failures--;
        }
    }
}
