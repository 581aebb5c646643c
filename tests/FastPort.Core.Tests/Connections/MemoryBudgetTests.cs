using System.Buffers;
using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Connections;

public sealed class MemoryBudgetTests
{
    [Fact]
    public void A_pool_counts_what_is_above_the_free_bytes()
    {
        var budget = new MemoryBudget(long.MaxValue);
        var pool = new BudgetedPool(ArrayPool<byte>.Shared, budget);

        byte[] small = pool.Rent(MemoryBudget.FreeBytes / 2);
        Assert.Equal((0, 0), (pool.Counted, budget.Used));
        byte[] large = pool.Rent(MemoryBudget.FreeBytes);
        Assert.Equal((MemoryBudget.FreeBytes / 2, MemoryBudget.FreeBytes / 2), (pool.Counted, budget.Used));
        pool.Return(small);
        Assert.Equal((0, 0), (pool.Counted, budget.Used));
        pool.Return(large);
        Assert.Equal((0, 0), (pool.Counted, budget.Used));
    }

    [Fact]
    public void Who_may_wait_gets_no_more_than_there_is()
    {
        var budget = new MemoryBudget(100);

        Assert.True(budget.TryTake(60));
        Assert.False(budget.TryTake(60));
        Assert.True(budget.TryTake(40));
        budget.Give(100);
        Assert.Equal(0, budget.Used);
    }

    [Fact]
    public async Task The_unknown_and_of_them_the_longest_owed_of_all_holders_is_closed_first_and_no_more_than_need_be()
    {
        var budget = new MemoryBudget(100);
        var one = new Holder(budget) { { 50, true, 900 }, { 50, false, 10 } };
        var other = new Holder(budget) { { 50, false, 20 }, { 50, false, 0 } };

        budget.Take(200);
        await Patience.UntilAsync(() => budget.Used <= 100, "the budget was kept");

        Assert.Equal([(50L, true, 900L)], one.Left);
        Assert.Equal([(50L, false, 0L)], other.Left);
    }

    [Fact]
    public async Task An_excess_that_comes_again_is_looked_after_again_and_who_has_left_is_not_asked()
    {
        var budget = new MemoryBudget(100);
        var gone = new Holder(budget) { { 50, false, 1000 } };
        budget.Leave(gone);
        for (int i = 0; i < 3; i++)
        {
            var holder = new Holder(budget) { { 150, false, 1 } };
            budget.Take(150);
            await Patience.UntilAsync(() => budget.Used == 0, "the budget was kept");
            Assert.Empty(holder.Left);
        }

        Assert.Single(gone.Left);
    }

    [Fact]
    public async Task A_holder_that_throws_once_does_not_end_the_watch()
    {
        var budget = new MemoryBudget(100);
        var holder = new Holder(budget) { { 150, false, 1 } };
        holder.ThrowsNext = true;

        budget.Take(150);

        await Patience.UntilAsync(() => budget.Used == 0, "the budget was kept");
        Assert.False(holder.ThrowsNext);
    }

    private sealed class Holder : IMemoryHolder, System.Collections.IEnumerable
    {
        private readonly MemoryBudget _budget;
        private readonly List<MemoryClaim> _claims = [];

        public Holder(MemoryBudget budget)
        {
            _budget = budget;
            budget.Enter(this);
        }

        public bool ThrowsNext { get; set; }

        public IEnumerable<MemoryClaim> Claims
        {
            get
            {
                if (ThrowsNext)
                {
                    ThrowsNext = false;
                    throw new InvalidOperationException("on purpose");
                }

                lock (_claims)
                {
                    return [.. _claims];
                }
            }
        }

        public IEnumerable<(long Bytes, bool IsKnown, long Owed)> Left =>
            Claims.Select(static c => (c.Bytes, c.IsKnown, c.OwedMilliseconds));

        public void Add(long bytes, bool isKnown, long owed)
        {
            var closed = new TaskCompletionSource();
            _claims.Add(new MemoryClaim(bytes, isKnown, owed, Close, closed.Task));

            void Close()
            {
                lock (_claims)
                {
                    _claims.RemoveAll(c => c.Closed == closed.Task);
                }

                _budget.Give(bytes);
                closed.SetResult();
            }
        }

        public System.Collections.IEnumerator GetEnumerator() => Claims.GetEnumerator();
    }
}
