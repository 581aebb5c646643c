using System.Text;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

public sealed class HelloTests
{
    [NodeFact]
    public async Task Says_Hello_in_the_bytes_that_Protocol_Buffers_prescribe()
    {
        using NodePeer node = await NodePeer.StartAsync();
        await using (await node.ConnectAsync(static o => (o.RoutingId, o.Token, o.ClientName) = ("pump/ü-3", "s3cret", "FastPort 日本")))
        {
        }

        PeerHello hello = Assert.Single((await node.FinishAsync()).Hellos);
        Assert.Equal((ControlType.Hello, FrameFlags.None), (hello.Frame.Type, hello.Frame.Flags));
        Assert.NotEqual(0u, hello.Frame.Correlation);
        Assert.Equal(new HelloMessage("pump/ü-3", "s3cret", "FastPort 日本"), hello.Hello);
        byte[] expected = [.. Field(1, "pump/ü-3"), .. Field(2, "s3cret"), .. Field(3, "FastPort 日本"), 4 << 3, 11];
        Assert.Equal(Convert.ToHexStringLower(expected), hello.Body);
    }

    [NodeFact]
    public async Task Leaves_empty_fields_out_of_Hello_and_reads_a_Welcome_of_defaults()
    {
        using NodePeer node = await NodePeer.StartAsync(new { welcome = new { } });
        await using (FastPortClient client = await node.ConnectAsync(static o => o.ClientName = string.Empty))
        {
            // A limit of 0 is no limit of 0 bytes.
            Assert.Equal(FrameLimits.Default - 8, client.Session!.MaxBodyBytes);
        }

        // All that is left is the offer of the trace extension.
        Assert.Equal("200b", Assert.Single((await node.FinishAsync()).Hellos).Body);
    }

    [NodeFact]
    public async Task Keeps_to_the_frame_limit_of_the_Welcome()
    {
        using NodePeer node = await NodePeer.StartAsync(
            new { welcome = new { sessionId = 9_007_199_254_740_991, serverName = "small", maxFrameBytes = 2048 } });
        await using FastPortClient client = await node.ConnectAsync();

        Assert.Equal(2040, client.Session!.MaxBodyBytes);
        ArgumentException failure = await Assert.ThrowsAsync<ArgumentException>(() => client.RequestAsync(NodePeer.Mirror, new byte[2041]));
        Assert.Contains("2040", failure.Message, StringComparison.Ordinal);
    }

    [NodeFact]
    public async Task Reads_a_Welcome_of_a_later_version_with_unknown_fields()
    {
        using NodePeer node = await NodePeer.StartAsync(new
        {
            welcomeType = "LaterWelcome",
            welcome = new
            {
                sessionId = 3,
                serverName = "later",
                maxFrameBytes = 4096,
                region = 7,
                load = 0.25,
                details = new { text = "x", numbers = new { a = -1, b = 2 } },
                versions = new[] { 1, 2, 300 },
                skew = -5,
            },
        });
        await using FastPortClient client = await node.ConnectAsync();

        Assert.Equal(4088, client.Session!.MaxBodyBytes);
        Assert.Empty(await client.RequestAsync(ControlType.Ping, ReadOnlyMemory<byte>.Empty));
    }

    private static byte[] Field(int number, string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        return [(byte)((number << 3) | 2), (byte)utf8.Length, .. utf8];
    }
}
