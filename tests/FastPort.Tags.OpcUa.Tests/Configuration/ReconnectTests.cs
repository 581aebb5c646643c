using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Configuration;

/// <summary>The delays that decide how soon all goes on after a peer's return.</summary>
public sealed class ReconnectTests
{
    // Of the 3 s within which tags are back the rest is for the session, the list of tags and the present samples.
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(1.25);

    [Fact]
    public void Endpoints_are_tried_again_often_enough() => Assert.Equal(LongestWait, LongestOf(new OpcUaEndpointOptions().Client));

    [Fact]
    public void Clients_try_the_bridge_again_often_enough() => Assert.Equal(LongestWait, LongestOf(new FastPortClientOptions()));

    // When the peer has been away for long, with the most that the jitter adds.
    private static TimeSpan LongestOf(ClientOptions options)
    {
        var delays = new ReconnectBackoff(options.ReconnectDelay, options.MaxReconnectDelay, new Latest());
        return Enumerable.Range(0, 100).Max(_ => delays.Next());
    }

    private sealed class Latest : Random
    {
        public override double NextDouble() => 1;
    }
}
