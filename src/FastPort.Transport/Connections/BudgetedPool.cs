using System.Buffers;

namespace FastPort.Connections;

/// <summary>
/// A pool for one purpose of one connection: rented bytes above <see cref="MemoryBudget.FreeBytes"/> count in the budget. Thread-safe if
/// the underlying pool is.
/// </summary>
internal sealed class BudgetedPool(ArrayPool<byte> pool, MemoryBudget budget) : ArrayPool<byte>
{
    private long _rented;

    /// <summary>Rented bytes that count in the budget.</summary>
    public long Counted => MemoryBudget.Counted(Volatile.Read(ref _rented));

    public override byte[] Rent(int minimumLength)
    {
        byte[] array = pool.Rent(minimumLength);
        long rented = Interlocked.Add(ref _rented, array.Length);
        if (rented > MemoryBudget.FreeBytes)
        {
            budget.Take(MemoryBudget.Counted(rented) - MemoryBudget.Counted(rented - array.Length));
        }

        return array;
    }

    public override void Return(byte[] array, bool clearArray = false)
    {
        long rented = Interlocked.Add(ref _rented, -array.Length);
        if (rented + array.Length > MemoryBudget.FreeBytes)
        {
            budget.Give(MemoryBudget.Counted(rented + array.Length) - MemoryBudget.Counted(rented));
        }

        pool.Return(array, clearArray);
    }
}
