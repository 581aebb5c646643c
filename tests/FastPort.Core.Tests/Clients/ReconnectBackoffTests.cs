using FastPort.Clients;
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

    private static ReconnectBackoff Make(Random random) => new(TimeSpan.FromMilliseconds(100), TimeSpan.FromSeconds(1), random);

    private sealed class Middle : Random
    {
        public override double NextDouble() => 0.5;
    }
}
