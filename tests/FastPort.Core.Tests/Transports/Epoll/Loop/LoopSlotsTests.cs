using FastPort.Transports.Epoll.Loop;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll.Loop;

public sealed class LoopSlotsTests
{
    [Fact]
    public void A_number_finds_its_owner_until_it_is_given_up_and_never_the_next_one()
    {
        var slots = new LoopSlots();
        Owner[] owners = [.. Enumerable.Range(0, 200).Select(static _ => new Owner())];
        ulong[] numbers = [.. owners.Select(slots.Add)];
        Assert.Equal(200, numbers.Distinct().Count());
        Assert.All(owners.Zip(numbers), pair => Assert.Same(pair.First, slots.Find(pair.Second)));

        slots.Remove(numbers[7]);
        var newcomer = new Owner();
        ulong next = slots.Add(newcomer);

        Assert.Null(slots.Find(numbers[7]));
        Assert.Same(newcomer, slots.Find(next));
        Assert.Equal((uint)numbers[7], (uint)next);
    }

    [Fact]
    public void A_number_nobody_ever_had_finds_nobody() => Assert.Null(new LoopSlots().Find(123_456));

    private sealed class Owner : ILoopHandler
    {
        public void OnReady(uint events)
        {
        }
    }
}
