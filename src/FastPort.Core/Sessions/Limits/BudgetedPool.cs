using System.Buffers;

namespace FastPort.Sessions.Limits;

/// <summary>
/// Arrays for receive rings: those above <see cref="MemoryBudget.FreeBytes"/> count in the budget while they are rented. Thread-safe, as
/// the pool below.
/// </summary>
internal sealed class BudgetedPool(ArrayPool<byte> pool, MemoryBudget budget) : ArrayPool<byte>
{
    public override byte[] Rent(int minimumLength)
    {
        byte[] array = pool.Rent(minimumLength);
        if (array.Length > MemoryBudget.FreeBytes)
        {
            budget.Take(array.Length);
        }

        return array;
    }

    public override void Return(byte[] array, bool clearArray = false)
    {
        if (array.Length > MemoryBudget.FreeBytes)
        {
            budget.Give(array.Length);
        }

        pool.Return(array, clearArray);
    }
}
