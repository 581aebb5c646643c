using System.Security.Claims;
using FastPort.Connections;
using FastPort.Core.Tests.Routing;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Limits;

/// <summary>Rates of sessions, over sockets and with a clock that the test moves.</summary>
public sealed partial class SessionRateTests
{
    private const ushort Slow = 0x1001;
    private const ushort Held = 0x1002;
    private readonly FakeTimeProvider _time = new();
    private readonly TaskCompletionSource _release = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task A_session_over_its_rate_is_not_read_until_the_rate_has_made_up_for_it()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.MessagesPerSecond = 10);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await EchoAsync(peer, 11);

        await peer.SendAsync(Wire.Request(TestServer.Echo, 99, [7]));
        await Patience.UntilAsync(() => session.Connection.BytesReceived >= 12 * 13, "the bytes have arrived");
        server.Settle();

        Assert.Equal(11, session.MessagesReceived);
        LogLine line = Assert.Single(server.Log.WithId(2012));
        Assert.StartsWith(
            $"address 127.0.0.1 is over its rate of 10 messages/s: session {session.Id} (127.0.0.1", line.Text, StringComparison.Ordinal);
        Assert.Equal(1, server.Counts.RatesExceededFor(RateScope.Address, RateResource.Messages));

        await AdvanceUntilAsync(() => session.MessagesReceived == 12);
        Assert.InRange(_time.Elapsed, TimeSpan.FromSeconds(0.1), TimeSpan.FromSeconds(0.4));
        Assert.Equal([7], (await peer.ReadFrameAsync()).Body);
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Everything_arrives_in_the_end_and_in_order(TransportKind transport)
    {
        await using TestServer server = await StartAsync(
            static rates =>
            {
                rates.PerAddress.BytesPerSecond = 10_000;
                rates.Burst = TimeSpan.FromMilliseconds(100);
            },
            transport: transport);
        using RawPeer peer = await server.ConnectAsync();
        byte[] body = new byte[1000];
        Task sending = Task.Run(async () =>
        {
            for (uint i = 0; i < 100; i++)
            {
                await peer.SendAsync(Wire.Request(TestServer.Echo, i + 1, body));
            }
        });
        Task reading = Task.Run(async () =>
        {
            for (uint i = 0; i < 100; i++)
            {
                Assert.Equal(i + 1, (await peer.ReadFrameAsync()).Correlation);
            }
        });

        await AdvanceUntilAsync(() => reading.IsCompleted);

        await sending;
        await reading;
        Assert.True(_time.Elapsed >= TimeSpan.FromSeconds(2), $"101,200 bytes took {_time.Elapsed}.");
    }

    [Fact]
    public async Task With_Refuse_requests_are_answered_Overloaded_and_control_messages_are_served()
    {
        await using TestServer server = await StartAsync(static rates =>
        {
            rates.PerAddress.MessagesPerSecond = 10;
            rates.WhenExceeded = RateExceededPolicy.Refuse;
        });
        using RawPeer peer = await server.ConnectAsync();
        await EchoAsync(peer, 11);

        WireFrame refused = await peer.CallAsync(Wire.Request(TestServer.Echo, 5, [1]));

        Assert.Equal((8u, 5u), (refused.ErrorCode, refused.Correlation));
        Assert.Equal("address 127.0.0.1 is over its rate of 10 messages/s; the request was not run.", refused.TextAt(2));
        Assert.Equal(8u, (await peer.CallAsync(RoutingWire.RelayRequest(6, "nobody", [1]))).ErrorCode);
        Assert.Equal(8u, (await peer.CallAsync(RoutingWire.PublishRequest(7, "a", [1]))).ErrorCode);
        Assert.Equal(8u, (await peer.CallAsync(RoutingWire.TopicRequest(RoutingWire.Subscribe, 8, "a"))).ErrorCode);
        await peer.PingAsync();
        await peer.SendAsync(Wire.Post(TestServer.Echo, [1]));
        await peer.PingAsync();
        Assert.Equal(1, server.Counts.OneWayFailuresWith(8));
        Assert.Single(server.Log.WithId(2013));

        _time.Advance(TimeSpan.FromSeconds(0.5));
        await EchoAsync(peer, 1);
    }

    /// <summary>Otherwise the answer would be taken for the next message, which nobody was asked about.</summary>
    [Fact]
    public async Task A_request_that_waits_for_the_authorizer_while_the_rate_is_exceeded_is_run()
    {
        var answer = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await StartAsync(
            static rates =>
            {
                rates.PerAddress.MessagesPerSecond = 10;
                rates.WhenExceeded = RateExceededPolicy.Refuse;
            },
            components => components.Authorizer = (request, _) =>
            {
                if (request.Type != Slow)
                {
                    return ValueTask.FromResult(request.Type == TestServer.Echo);
                }

                asked.TrySetResult();
                return new ValueTask<bool>(answer.Task);
            });
        using RawPeer waits = await server.ConnectAsync();
        await waits.SendAsync(Wire.Request(Slow, 1));
        await asked.Task.InTimeAsync();
        using RawPeer exceeds = await server.ConnectAsync();
        await EchoAsync(exceeds, 11);

        answer.SetResult(true);

        WireFrame reply = await waits.ReadFrameAsync();
        Assert.Equal((Slow, Wire.Reply), (reply.Type, reply.Flags));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(6u, (await waits.CallAsync(RoutingWire.RelayRequest(2, "nobody", [1]))).ErrorCode);
    }

    [Fact]
    public async Task Time_of_inline_handlers_counts()
    {
        await using TestServer server = await StartAsync(static rates =>
        {
            rates.PerAddress.LoopTimePercent = 1;
            rates.Burst = TimeSpan.FromMilliseconds(10);
        });
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(Slow, 1, []));
        await peer.ReadFrameAsync();

        await peer.SendAsync(Wire.Request(TestServer.Echo, 2, [1]));
        await Patience.UntilAsync(() => session.Connection.BytesReceived >= 12 + 13, "the bytes have arrived");
        server.Settle();

        Assert.Equal(1, session.MessagesReceived);
        await AdvanceUntilAsync(() => session.MessagesReceived == 2);
        Assert.True(_time.Elapsed >= TimeSpan.FromMilliseconds(400), $"5 ms of a loop at 1 % were made up for in {_time.Elapsed}.");

        // On a busy machine the handler takes long, and is made up for in more than the 10 s until the next line.
        Assert.All(server.Log.WithId(2012), static line => Assert.Contains("1 % of a core", line.Text, StringComparison.Ordinal));
        Assert.NotEmpty(server.Log.WithId(2012));
    }

    [Fact]
    public async Task A_held_part_of_a_frame_is_owed_from_its_first_byte_on()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.BytesPerSecond = 100);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        _time.Advance(TimeSpan.FromSeconds(3));
        byte[] frame = Wire.Request(TestServer.Echo, 1, new byte[1000]);
        await peer.SendAsync(frame[..500]);
        await Patience.UntilAsync(() => session.Protocol.UnfinishedSince >= 0, "the first part has arrived");
        long begun = session.Protocol.UnfinishedSince;

        _time.Advance(TimeSpan.FromSeconds(1));
        await peer.SendAsync(frame[500..600]);
        await Patience.UntilAsync(() => session.Protocol.IsPaused, "the session is held");
        server.Settle();

        Assert.Equal(begun, session.Protocol.UnfinishedSince);
        await peer.SendAsync(frame[600..]);
        await AdvanceUntilAsync(() => session.MessagesReceived == 1);
        Assert.Equal(1000, (await peer.ReadFrameAsync()).Body.Length);
    }

    [Fact]
    public async Task Holds_do_not_give_a_frame_its_whole_time_again()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.MessagesPerSecond = 10);
        using RawPeer slow = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        using RawPeer other = await server.ConnectAsync();
        byte[] frame = Wire.Request(TestServer.Echo, 1, new byte[1000]);
        await slow.SendAsync(frame[..100]);
        await Patience.UntilAsync(() => session.Protocol.UnfinishedSince >= 0, "the first part has arrived");
        for (int i = 100; i < 105 && !session.Connection.IsClosing; i++)
        {
            // All is made up for, so the account is over its rate at the eleventh message.
            _time.Advance(TimeSpan.FromSeconds(10));
            server.Settle();
            await EchoAsync(other, 11);
            await slow.TrySendAsync(frame[i..(i + 1)]);
            await Patience.UntilAsync(() => session.Connection.IsClosing || session.Protocol.IsPaused, "it is held");
            server.Settle();
        }

        Assert.Equal(CloseKind.MessageTimeout, session.Connection.ClosingReason?.Kind);
    }

    [Fact]
    public async Task An_identity_shares_its_rate_among_its_sessions_and_is_named()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerIdentity.MessagesPerSecond = 10, AcceptEverybody);
        using RawPeer anna = await server.ConnectAsync();
        await anna.SayHelloAsync(token: "anna");
        using RawPeer anna2 = await server.ConnectAsync();
        await anna2.SayHelloAsync(token: "anna");
        using RawPeer bert = await server.ConnectAsync();
        await bert.SayHelloAsync(token: "bert");

        await EchoAsync(anna, 9);
        await EchoAsync(bert, 8);
        await anna2.SendAsync(Wire.Request(TestServer.Echo, 77, [1]));
        await EchoAsync(bert, 1);

        Session held = server.Opened[1];
        await Patience.UntilAsync(() => server.Log.WithId(2012).Count != 0, "anna was named");
        Assert.Matches(@"^user 'anna' is over its rate of 10 messages/s: session \d+ of user 'anna' \(", server.Log.WithId(2012)[0].Text);
        Assert.Equal(1, held.MessagesReceived);
        await AdvanceUntilAsync(() => held.MessagesReceived == 2);
    }

    [Fact]
    public async Task A_server_that_stops_does_not_wait_for_a_rate()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.MessagesPerSecond = 1);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync([.. Enumerable.Range(1, 100).Select(static i => Wire.Request(TestServer.Echo, (uint)i, [1]))]);
        await Patience.UntilAsync(() => server.Log.WithId(2012).Count != 0, "the session is held");

        Task stopped = server.Server.StopAsync();
        await Patience.UntilAsync(() => session.MessagesReceived >= 101, "the held requests were read");
        await AdvanceUntilAsync(() => stopped.IsCompleted);

        Assert.Equal(CloseKind.Stopping, (await server.CloseReasonAsync()).Kind);
        Assert.True(_time.Elapsed < TimeSpan.FromSeconds(10), $"The stop took {_time.Elapsed}.");
    }

    [Fact]
    public async Task Connections_over_the_rate_are_rejected_and_counted()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.ConnectionsPerSecond = 2);
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();
        await first.PingAsync();
        await second.PingAsync();

        using (RawPeer third = await server.ConnectAsync())
        {
            await third.ExpectGoneAsync();
        }

        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.RateLimit));
        await Patience.UntilAsync(() => server.Log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.Contains(
            "address 127.0.0.1 may open 2 connections/s", server.Log.WithId(3001)[0].Text, StringComparison.Ordinal);
        _time.Advance(TimeSpan.FromSeconds(1));
        using RawPeer later = await server.ConnectAsync();
        await later.PingAsync();
    }

    [Fact]
    public void A_server_of_another_protocol_limits_connections_only()
    {
        var options = new ConnectionServerOptions();
        options.Endpoints.Add("tcp://127.0.0.1:0");
        options.Rates.PerAddress.ConnectionsPerSecond = 5;
        Assert.Empty(options.Validate());

        options.Rates.Total.MessagesPerSecond = 7;
        options.Rates.PerIdentity.ConnectionsPerSecond = 7;
        options.Rates.Exempt = ["nowhere"];

        Assert.Collection(
            options.Validate(),
            static p => Assert.Contains("Rates:Total:MessagesPerSecond is 7; only 0 is allowed", p, StringComparison.Ordinal),
            static p => Assert.Contains("Rates:PerIdentity: a server of this protocol", p, StringComparison.Ordinal),
            static p => Assert.Contains("Rates:Exempt is 'nowhere'; allowed: addresses", p, StringComparison.Ordinal));
    }

    private static void AcceptEverybody(FastPortServerComponents components) =>
        components.Authenticator = static (hello, _) => ValueTask.FromResult(AuthenticationResult.Accept(
            new ClaimsPrincipal(new ClaimsIdentity([new Claim(ClaimTypes.Name, hello.Token)], "test"))));

    private static async Task EchoAsync(RawPeer peer, int count)
    {
        // One by one: how many are handled at once would depend on time.
        for (uint i = 1; i <= count; i++)
        {
            Assert.Equal((byte)Wire.Reply, (await peer.CallAsync(Wire.Request(TestServer.Echo, i, [1]))).Flags);
        }
    }

    private Task AdvanceUntilAsync(Func<bool> condition) => Patience.UntilAsync(
        () =>
        {
            _time.Advance(TimeSpan.FromMilliseconds(50));
            return condition();
        },
        "time had passed");

    private Task<TestServer> StartAsync(
        Action<RateOptions> rates,
        Action<FastPortServerComponents>? components = null,
        TransportKind transport = TransportKind.Auto) =>
        TestServer.StartAsync(
            handlers => handlers.MapQueued(Held, async _ => await _release.Task).MapInline(
                Slow, static (ref FastPort.InlineRequest request) =>
                {
                    long began = System.Diagnostics.Stopwatch.GetTimestamp();
                    while (System.Diagnostics.Stopwatch.GetElapsedTime(began) < TimeSpan.FromMilliseconds(5))
                    {
                    }
                }),
            options =>
            {
                options.Session.IdleTimeout = TimeSpan.Zero;
                options.Session.HeartbeatInterval = TimeSpan.Zero;
                options.Transport = transport;
                options.Routing.Relay = options.Routing.Topics = true;
                rates(options.Rates);
            },
            c =>
            {
                c.Time = _time;
                components?.Invoke(c);
            });
}
