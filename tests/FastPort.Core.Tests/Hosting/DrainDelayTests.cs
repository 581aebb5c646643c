using System.Net.Sockets;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>The time in which a balancer can take a stopping server out before it refuses anybody.</summary>
public sealed class DrainDelayTests
{
    private static readonly TimeSpan Delay = TimeSpan.FromSeconds(3);
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task Until_it_is_over_connections_are_accepted_and_nobody_is_asked_to_leave()
    {
        await using TestServer server = await StartAsync();
        using RawPeer before = await server.ConnectKnownAsync();

        Task stop = await BeginStopAsync(server);
        Assert.True(server.Server.IsStopping);
        _time.Advance(Delay - TimeSpan.FromMilliseconds(1));
        using RawPeer late = await server.ConnectKnownAsync();
        foreach (RawPeer peer in new[] { before, late })
        {
            // The next frame of each is the answer, no Goodbye.
            Assert.Equal([7], (await peer.CallAsync(Wire.Request(TestServer.Echo, 7, [7]))).Body);
        }

        Assert.Empty(server.Log.WithId(3003));
        _time.Advance(TimeSpan.FromMilliseconds(1));

        foreach (RawPeer peer in new[] { before, late })
        {
            WireFrame goodbye = await peer.ReadFrameAsync();
            Assert.Equal((Wire.Goodbye, 10u), (goodbye.Type, goodbye.ErrorCode));
            await peer.SendAsync(Wire.GoodbyePost());
            await peer.ExpectEndAsync();
            peer.Dispose();
        }

        await stop.InTimeAsync();
        Assert.Empty(server.Log.WithId(3004));
        await Assert.ThrowsAsync<SocketException>(() => server.ConnectAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Who_cannot_wait_ends_it(bool byAnotherCall)
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        using var hurry = new CancellationTokenSource();

        Task stop = await BeginStopAsync(server, byAnotherCall ? default : hurry.Token);
        Task another = server.Server.StopAsync(byAnotherCall ? hurry.Token : default);
        Assert.False(stop.IsCompleted || another.IsCompleted);
        await hurry.CancelAsync();

        await Task.WhenAll(stop, another).InTimeAsync();
        Assert.Equal(0, server.Server.ConnectionCount);
    }

    [Fact]
    public async Task A_start_that_fails_does_not_wait_for_it()
    {
        await using TestServer other = await TestServer.StartAsync();
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0", other.Endpoint.ToString() }, DrainDelay = Delay };
        await using var server = new FastPortServer(options, components: new FastPortServerComponents { Time = _time });

        await Assert.ThrowsAsync<EndpointException>(() => server.StartAsync().InTimeAsync());
    }

    private static async Task<Task> BeginStopAsync(TestServer server, CancellationToken cancellationToken = default)
    {
        Task stop = server.Server.StopAsync(cancellationToken);
        await Patience.UntilAsync(() => server.Log.WithId(3010).Count == 1, "the drain began");
        return stop;
    }

    private Task<TestServer> StartAsync() =>
        TestServer.StartAsync(options: static o => o.DrainDelay = Delay, components: c => c.Time = _time);
}
