using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Where Hello is required a stranger gets no memory for anything else: the first 12 bytes decide, and a Hello is small.</summary>
public sealed class BeforeHelloTests
{
    private const int FrameLimit = 16 * 1024;

    [Fact]
    public async Task Another_type_is_refused_from_its_header_however_long_the_frame_would_be()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Frame(TestServer.Echo, Wire.Timing, 7, [], length: 1024 * 1024));

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((TestServer.Echo, 3 | Wire.Timing, 7u, 5u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.Unauthenticated, (await server.CloseReasonAsync()).Kind);
    }

    [Theory]
    [InlineData(0u, 100u)]
    [InlineData(9u, 1_000_000u)]
    public async Task A_reply_is_refused_too_and_its_text_is_not_logged(uint correlation, uint length)
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Frame(1, Wire.Reply | Wire.Error, correlation, [], length: length));

        await peer.ReadFrameAsync();
        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.Unauthenticated, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.WithId(2006));
    }

    [Theory]
    [InlineData(FrameLimit + 1)]
    [InlineData(1024 * 1024)]
    public async Task A_Hello_above_16_KiB_is_refused_from_its_header(int length)
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Frame(Wire.Hello, 0, 7, [], length: (uint)length));

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Hello, 3, 0u, 2u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task A_whole_Hello_above_16_KiB_is_refused_and_one_of_16_KiB_is_taken()
    {
        await using TestServer server = await StartAsync();
        byte[] hello = Wire.HelloRequest(7, "tank", new string('t', FrameLimit));
        using (RawPeer peer = await server.ConnectAsync())
        {
            Assert.Equal(2u, (await peer.CallAsync(hello)).ErrorCode);
            await peer.ExpectEndAsync();
        }

        // Length of the frame less that of the token's surplus.
        int surplus = hello.Length - 4 - FrameLimit;
        using RawPeer other = await server.ConnectAsync();
        await other.SayHelloAsync("tank", new string('t', FrameLimit - surplus));
        byte[] body = Wire.Bytes(1024 * 1024 - 8);
        Assert.Equal(body, (await other.CallAsync(Wire.Request(TestServer.Echo, 8, body))).Body);
    }

    [Fact]
    public async Task Where_no_Hello_is_required_the_frame_limit_holds()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        byte[] body = Wire.Bytes(1024 * 1024 - 8);

        Assert.Equal(body, (await peer.CallAsync(Wire.Request(TestServer.Echo, 8, body))).Body);
    }

    private static Task<TestServer> StartAsync() => TestServer.StartAsync(options: static o => o.RequireRoutingId = true);
}
