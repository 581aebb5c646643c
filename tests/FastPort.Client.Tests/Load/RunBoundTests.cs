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
        Assert.Equal("the cores that load client and server share: 1.9 of 2 cores busy", Of(Hosted, 1.9));
        Assert.Equal("the load client: 1.9 of 2 cores busy", Of(Remote with { Rate = 2000 }, 1.9));
        Assert.Equal("the cores of the machine, 98 % busy; the load client had 0.4 of 2 cores", Of(Remote, 0.4, machine: 0.98));
        Assert.Equal("the server's loops, 97 % busy; the load client had 1.2 of 2 cores", Of(Hosted, 1.2, 0, 0.97));
        Assert.Equal("the round trip of the requests in flight; the load client had 0.4 of 2 cores", Of(Hosted, 0.4, 0, 0.2));
        Assert.Equal(
            "the server, the way to it, or the requests in flight; the load client had 0.4 of 2 cores",
            Of(Remote with { Rate = 2000 }, 0.4));
        Assert.Equal(
            "the slower of sender and receiver; the load client had 0.4 of 2 cores", Of(Remote with { Mode = LoadMode.Sink }, 0.4));
    }

    // A thousand messages a second.
    private static string Of(LoadSettings settings, double cores, double machine = 0, params double[] loops) => RunBound.Describe(
        settings,
        new LoadMeasurement(DateTimeOffset.UnixEpoch, TimeSpan.FromSeconds(10), 10_000, null),
        new RunBound.Use(cores, Available: 2, machine, loops));
}
