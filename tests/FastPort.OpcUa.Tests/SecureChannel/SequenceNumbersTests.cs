using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

public sealed class SequenceNumbersTests
{
    [Fact]
    public void Numbers_begin_with_one_and_start_over_near_the_end_of_the_range()
    {
        var numbers = new SequenceNumbers();
        Assert.Equal(1u, numbers.Next());
        Assert.Equal(2u, numbers.Next());

        numbers.StartAfter(4_294_966_999);
        Assert.Equal(4_294_967_000, numbers.Next());
        Assert.Equal(1u, numbers.Next());
    }

    [Theory]
    [InlineData(5, 6, true)]
    [InlineData(5, 5, false)]
    [InlineData(5, 7, false)]
    [InlineData(5, 4, false)]
    [InlineData(4_294_966_271, 1, true)]
    [InlineData(4_294_966_271, 1023, true)]
    [InlineData(4_294_966_271, 1024, false)]
    [InlineData(4_294_966_270, 1, false)]
    [InlineData(4_294_967_295, 0, true)]
    public void The_next_number_is_accepted(uint last, uint next, bool isAccepted)
    {
        var numbers = new SequenceNumbers();
        numbers.StartAfter(last);
        Assert.Equal(isAccepted, numbers.TryAccept(next));
    }

    [Fact]
    public void What_one_side_sends_the_other_accepts_over_the_end_of_the_range()
    {
        var sender = new SequenceNumbers();
        var receiver = new SequenceNumbers();
        sender.StartAfter(4_294_960_000);
        for (int i = 0; i < 20_000; i++)
        {
            Assert.True(receiver.TryAccept(sender.Next()));
        }
    }
}
