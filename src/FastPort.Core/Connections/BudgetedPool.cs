using System.Buffers;

namespace FastPort.Connections;

/// <summary>
/// Arrays for one purpose of one connection: what it has rented above <see cref="MemoryBudget.FreeBytes"/> counts in the budget.
/// Thread-safe, as the pool below.
/// </summary>
internal sealed class BudgetedPool(ArrayPool<byte> pool, MemoryBudget budget) : ArrayPool<byte>
{
    private long _rented;

    /// <summary>Bytes that count now.</summary>
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
