using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class ReconnectBackoffTests
{
    [Fact]
    public void Tries_at_once_then_doubles_up_to_the_longest_delay()
    {
        ReconnectBackoff delays = Make(new Middle());

        double[] milliseconds = [.. Enumerable.Range(0, 7).Select(_ => delays.Next().TotalMilliseconds)];

        Assert.Equal([0, 100, 200, 400, 800, 1000, 1000], milliseconds);
    }

    [Fact]
    public void Starts_anew_after_a_reset()
    {
        ReconnectBackoff delays = Make(new Middle());
        delays.Next();
        delays.Next();

        delays.Reset();

        Assert.Equal(TimeSpan.Zero, delays.Next());
        Assert.Equal(100, delays.Next().TotalMilliseconds);
    }

    // After delays of 0, 100, 200 ms and so on up to 20 s.
    [Theory]
    [InlineData(0, 0.999, false)]
    [InlineData(0, 1, true)]
    [InlineData(1, 0.999, false)]
    [InlineData(1, 1, true)]
    [InlineData(6, 3.199, false)]
    [InlineData(6, 3.2, true)]
    [InlineData(12, 9.999, false)]
    [InlineData(12, 10, true)]
    public void Starts_anew_after_a_connection_that_lasted_as_long_as_the_next_delay(int attempts, double seconds, bool anew)
    {
        ReconnectBackoff delays = Make(new Middle(), longest: 20);
        for (int i = 0; i < attempts; i++)
        {
            delays.Next();
        }

        delays.ResetAfter(TimeSpan.FromSeconds(seconds));

        Assert.Equal(anew || attempts == 0, delays.Next() == TimeSpan.Zero);
    }

    [Fact]
    public void Starts_anew_after_a_connection_that_lasted_as_long_as_the_longest_delay()
    {
        ReconnectBackoff delays = Make(new Middle(), longest: 0.4);
        delays.Next();
        delays.Next();

        delays.ResetAfter(TimeSpan.FromSeconds(0.4));

        Assert.Equal(TimeSpan.Zero, delays.Next());
    }

    [Fact]
    public void Jitters_by_a_quarter_either_way()
    {
        ReconnectBackoff delays = Make(new Random(5));
        for (int i = 0; i < 6; i++)
        {
            delays.Next();
        }

        double[] steady = [.. Enumerable.Range(0, 1000).Select(_ => delays.Next().TotalMilliseconds)];

        Assert.All(steady, static d => Assert.InRange(d, 750, 1250));
        Assert.True(steady.Min() < 800 && steady.Max() > 1200, "The delays are hardly spread.");
    }

    private static ReconnectBackoff Make(Random random, double longest = 1) =>
        new(TimeSpan.FromMilliseconds(100), TimeSpan.FromSeconds(longest), random);

    private sealed class Middle : Random
    {
        public override double NextDouble() => 0.5;
    }
}
