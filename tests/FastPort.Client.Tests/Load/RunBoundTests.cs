using FastPort.Client.Load;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class RunBoundTests
{
    private static readonly LoadSettings Hosted = new();
    private static readonly LoadSettings Remote = new() { Server = "tcp://127.0.0.1:1" };

    [Fact]
    public void Says_what_had_no_room_left()
    {
        Assert.Equal("the rate asked for", Of(Remote with { Rate = 1000 }, 2.0));
        Assert.Equal("the cores that load client and server share, 1.9 of 2 cores busy", Of(Hosted, 1.9));
        Assert.Equal("the cores that the load client has, 1.9 of 2 cores busy", Of(Remote with { Rate = 2000 }, 1.9));
        Assert.Equal("the server's loops, 97 % busy; 1.2 of 2 cores busy", Of(Hosted, 1.2, 0.97));
        Assert.Equal("the round trip of the requests in flight; 0.4 of 2 cores busy in the load client", Of(Hosted, 0.4, 0.2));
        Assert.Equal(
            "the server, the way to it, or the requests in flight; 0.4 of 2 cores busy in the load client",
            Of(Remote with { Rate = 2000 }, 0.4));
        Assert.Equal(
            "the slower of sender and receiver; 0.4 of 2 cores busy in the load client", Of(Remote with { Mode = LoadMode.Sink }, 0.4));
    }

    // A thousand messages a second.
    private static string Of(LoadSettings settings, double cores, params double[] loops) => RunBound.Describe(
        settings, new LoadMeasurement(DateTimeOffset.UnixEpoch, TimeSpan.FromSeconds(10), 10_000, null), cores, available: 2, loops);
}
