using FastPort.Connections;

namespace FastPort.Sessions.Streams;

/// <summary>
/// The part of the shared memory budget that the waiting items of one direction of a stream take. Not thread-safe: the owner locks it.
/// </summary>
internal struct StreamMemory(MemoryBudget budget)
{
    // Few bytes do not count: most streams wait for their peers, and never touch the budget.
    private const long FreeBytes = 4 * 1024;

    // Bytes taken from the budget at a time: once for many items.
    private const long Step = 16 * 1024;

    private long _taken;

    /// <summary>Takes or gives back what these waiting bytes need; false if the budget is used up.</summary>
    public bool TryHold(long bytes)
    {
        long needed = bytes <= FreeBytes ? 0 : (bytes + Step - 1) / Step * Step;
        if (needed > _taken)
        {
            if (!budget.TryTake(needed - _taken))
            {
                return false;
            }
        }
        else if (needed < _taken)
        {
            budget.Give(_taken - needed);
        }

        _taken = needed;
        return true;
    }
}
