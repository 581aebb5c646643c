using System.Buffers;

namespace FastPort.Connections;

/// <summary>
/// A pool for one purpose of one connection: held bytes above <see cref="MemoryBudget.FreeBytes"/> count in the budget. Thread-safe if the
/// underlying pool is.
/// </summary>
internal sealed class BudgetedPool(ArrayPool<byte> pool, MemoryBudget budget) : ArrayPool<byte>
{
    private long _held;

    /// <summary>Held bytes that count in the budget.</summary>
    public long Counted => MemoryBudget.Counted(Volatile.Read(ref _held));

    /// <summary>
    /// Whether the budget has room for memory that a connection does without when there is none: half of it is for messages.
    /// </summary>
    public bool HasRoom(int bytes) => budget.Used + bytes <= budget.Limit / 2;

    /// <summary>Counts memory of the same purpose that is not an array.</summary>
    public void Add(int bytes)
    {
        long held = Interlocked.Add(ref _held, bytes);
        if (held > MemoryBudget.FreeBytes)
        {
            budget.Take(MemoryBudget.Counted(held) - MemoryBudget.Counted(held - bytes));
        }
    }

    /// <summary>The memory of <see cref="Add"/> is released.</summary>
    public void Remove(int bytes)
    {
        long held = Interlocked.Add(ref _held, -bytes);
        if (held + bytes > MemoryBudget.FreeBytes)
        {
            budget.Give(MemoryBudget.Counted(held + bytes) - MemoryBudget.Counted(held));
        }
    }

    public override byte[] Rent(int minimumLength)
    {
        byte[] array = pool.Rent(minimumLength);
        Add(array.Length);
        return array;
    }

    public override void Return(byte[] array, bool clearArray = false)
    {
        Remove(array.Length);
        pool.Return(array, clearArray);
    }
}
