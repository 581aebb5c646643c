using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Limits;

/// <content>Sessions whose Hello a rate holds or refuses.</content>
public sealed partial class SessionRateTests
{
    [Fact]
    public async Task A_Hello_that_a_rate_holds_is_not_late()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.BytesPerSecond = 100, AcceptEverybody);
        using RawPeer exceeds = await server.ConnectAsync();
        await exceeds.SayHelloAsync(token: "anna");
        await exceeds.CallAsync(Wire.Request(TestServer.Echo, 1, new byte[2000]));
        await Patience.UntilAsync(() => server.Log.WithId(2012).Count != 0, "the address is over its rate");
        using RawPeer held = await server.ConnectAsync();
        Session session = await server.SessionAsync(1);
        Task welcomed = held.SayHelloAsync(token: "bert");
        await Patience.UntilAsync(() => session.Protocol.IsPaused, "the Hello is held");

        await AdvanceUntilAsync(() => welcomed.IsCompleted);

        await welcomed;
        Assert.InRange(_time.Elapsed, TimeSpan.FromSeconds(15), TimeSpan.FromSeconds(25));
        Assert.True(session.IsIdentified);
    }

    /// <summary>Only the time of the hold is given back.</summary>
    [Fact]
    public async Task A_peer_that_a_rate_has_held_does_not_get_the_whole_time_for_its_Hello_again()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.BytesPerSecond = 100, AcceptEverybody);
        using RawPeer exceeds = await server.ConnectAsync();
        await exceeds.SayHelloAsync(token: "anna");
        using RawPeer held = await server.ConnectAsync();
        Session session = await server.SessionAsync(1);
        _time.Advance(TimeSpan.FromSeconds(8));
        await exceeds.CallAsync(Wire.Request(TestServer.Echo, 1, new byte[2000]));
        await Patience.UntilAsync(() => server.Log.WithId(2012).Count != 0, "the address is over its rate");
        await held.SendAsync(Wire.HelloRequest(1)[..5]);
        await Patience.UntilAsync(() => session.Protocol.IsPaused, "the part of a Hello is held");

        await AdvanceUntilAsync(() => !session.Protocol.IsPaused);
        TimeSpan read = _time.Elapsed;
        await AdvanceUntilAsync(() => session.Connection.IsClosing);

        Assert.Equal(CloseKind.HandshakeTimeout, session.Connection.ClosingReason?.Kind);
        Assert.InRange(_time.Elapsed - read, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(3));
    }

    [Fact]
    public async Task Hellos_of_an_identity_over_its_rate_may_be_said_again_later()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerIdentity.ConnectionsPerSecond = 1, AcceptEverybody);
        using RawPeer first = await server.ConnectAsync();
        await first.SayHelloAsync(token: "anna");
        using RawPeer second = await server.ConnectAsync();

        WireFrame refused = await second.CallAsync(Wire.HelloRequest(3, token: "anna"));

        Assert.Equal((8u, "user 'anna' may open 1 connections/s; try again later."), (refused.ErrorCode, refused.TextAt(2)));
        _time.Advance(TimeSpan.FromSeconds(1));
        await second.SayHelloAsync(token: "anna");
    }
}
