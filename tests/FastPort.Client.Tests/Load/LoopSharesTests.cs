using FastPort.Client.Load;
using FastPort.Programs;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class LoopSharesTests
{
    [Theory]
    [InlineData(1, 1, 1)]
    [InlineData(2, 1, 1)]
    [InlineData(3, 1, 2)]
    [InlineData(8, 4, 4)]
    public void Both_sides_have_their_share_of_the_cores(int cores, int server, int client)
    {
        var options = new FastPortServerOptions();

        TransportChoice choice = LoopShares.Divide(new TransportChoice(), options, cores);

        Assert.Equal((server, client), (options.Loops, choice.Loops));
    }

    [Fact]
    public void What_was_asked_for_stays()
    {
        var given = new TransportChoice { Loops = 3 };
        var configured = new FastPortServerOptions { Loops = 7 };
        var pinned = new FastPortServerOptions { PinLoops = true };

        Assert.Same(given, LoopShares.Divide(given, new FastPortServerOptions(), 8));
        Assert.Equal((7, 1), (configured.Loops, LoopShares.Divide(new TransportChoice(), configured, 8).Loops));
        Assert.Null(LoopShares.Divide(new TransportChoice { PinLoops = true }, pinned, 8).Loops);
        Assert.Equal(0, pinned.Loops);
    }
}
