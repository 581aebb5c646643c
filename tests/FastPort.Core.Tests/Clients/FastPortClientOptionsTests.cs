using FastPort.Clients;
using FastPort.Configuration;
using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class FastPortClientOptionsTests
{
    [Theory]
    [InlineData(-1, null, "FastPortClient:Loops is -1; ", "0 (one per core) to 256.")]
    [InlineData(257, null, "FastPortClient:Loops is 257; ", "0 (one per core) to 256.")]
    [InlineData(0, -1, "FastPortClient:SpinMicroseconds is -1; ", "0 to 1000000, or none for adaptive.")]
    [InlineData(0, 1_000_001, "FastPortClient:SpinMicroseconds is 1000001; ", "0 to 1000000, or none for adaptive.")]
    public void A_wrong_value_is_named_with_its_key_and_the_allowed_range(int loops, int? spinMicroseconds, string value, string allowed)
    {
        var options = new FastPortClientOptions { Loops = loops, SpinMicroseconds = spinMicroseconds };

        string problem = Assert.Single(options.Validate());

        Assert.StartsWith(value, problem, StringComparison.Ordinal);
        Assert.EndsWith(allowed, problem, StringComparison.Ordinal);
        Assert.Equal(problem, Assert.Throws<FastPortOptionsException>(() => new FastPortClient(options)).Message);
    }

    [Theory]
    [InlineData(0, null)]
    [InlineData(256, 0)]
    [InlineData(1, 1_000_000)]
    public void The_limits_themselves_are_allowed(int loops, int? spinMicroseconds) =>
        Assert.Empty(new FastPortClientOptions { Loops = loops, SpinMicroseconds = spinMicroseconds }.Validate());
}
