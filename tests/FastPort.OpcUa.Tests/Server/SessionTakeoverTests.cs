using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Sessions and their subscriptions outlive the channel, and go on on another one.</summary>
public sealed class SessionTakeoverTests : IAsyncLifetime
{
    private readonly FakeTimeProvider _time = new();
    private TestServer _server = null!;
    private VariableNode _number = null!;

    public async ValueTask InitializeAsync() => _server = await TestServer.StartAsync(
        space => _number = space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Number", 0),
        static o => o.MaxSessions = 4,
        _time);

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_session_whose_connection_is_lost_goes_on_and_loses_nothing()
    {
        RawSession first = await RawSession.OpenAsync(_server);
        uint id = await first.SubscribeAsync(100);
        await first.MonitorAsync(id, 1, queueSize: 100);
        await first.SendPublishAsync();
        Cycle();
        (_, PublishResponse before) = await first.NextAsync();
        Assert.Equal([0], Numbers(before));
        await LoseAsync(first);

        // Values wait, and cycles run on, while there is no connection.
        for (int i = 1; i <= 5; i++)
        {
            _number.Value = new DataValue(i);
            Cycle();
        }

        using RawSession second = await RawSession.TakeOverAsync(_server, first.Token);
        var again = await second.CallAsync<RepublishRequest, RepublishResponse>(
            new RepublishRequest { SubscriptionId = id, RetransmitSequenceNumber = before.NotificationMessage.SequenceNumber });
        Assert.Equal(before.NotificationMessage.PublishTime, again.NotificationMessage.PublishTime);
        PublishResponse after = await second.PublishAsync();
        Assert.Equal([1, 2, 3, 4, 5], Numbers(after));
        Assert.Equal(before.NotificationMessage.SequenceNumber + 1, after.NotificationMessage.SequenceNumber);
    }

    [Fact]
    public async Task A_session_moves_to_another_channel_and_leaves_the_one_before()
    {
        using RawSession first = await RawSession.OpenAsync(_server);
        uint id = await first.SubscribeAsync(100);
        await first.MonitorAsync(id, 1, queueSize: 100);
        await first.SendPublishAsync();

        // Once this is answered, the Publish waits.
        await first.TryAsync<ReadRequest, ReadResponse>(default);

        using RawSession second = await RawSession.TakeOverAsync(_server, first.Token);

        Assert.Equal(StatusCodes.BadSecureChannelClosed, (await first.NextAsync()).Status);
        Assert.Equal(StatusCodes.BadSecureChannelIdInvalid, (await first.TryAsync<PublishRequest, PublishResponse>(default)).Status);
        Assert.Equal(StatusCodes.BadSecureChannelIdInvalid, (await first.TryAsync<ReadRequest, ReadResponse>(default)).Status);
        await second.SendPublishAsync();
        Cycle();
        Assert.Equal<int[]>([0], Numbers((await second.NextAsync()).Response));

        // The end of the channel before does not concern the session.
        first.Dispose();
        await second.SendPublishAsync();
        _number.Value = new DataValue(1);
        Cycle();
        Assert.Equal<int[]>([1], Numbers((await second.NextAsync()).Response));
    }

    [Fact]
    public async Task A_session_that_was_never_activated_stays_on_its_channel_and_ends_with_it()
    {
        using RawChannel creator = await RawChannel.OpenAsync(_server);
        await creator.SendMessageAsync(RawChannel.Request(new CreateSessionRequest { RequestedSessionTimeout = 60_000 }));
        NodeId token = ReadToken((await creator.ReceiveAsync()).Chunk);

        (StatusCode refused, RawSession other) = await RawSession.TryTakeOverAsync(_server, token);
        Assert.Equal(StatusCodes.BadSecureChannelIdInvalid, refused);
        other.Dispose();

        creator.Dispose();
        await Patience.UntilAsync(() => _server.Server.SessionCount == 0, "the session has ended");
    }

    [Fact]
    public async Task In_a_full_server_sessions_without_a_connection_give_way_the_oldest_first()
    {
        var lost = new List<RawSession>();
        for (int i = 0; i < 4; i++)
        {
            lost.Add(await RawSession.OpenAsync(_server));
            await LoseAsync(lost[i]);
            _time.Advance(TimeSpan.FromMilliseconds(10));
        }

        using RawSession first = await RawSession.OpenAsync(_server);
        Assert.Null(_server.Server.Sessions.Find(lost[0].Token));
        using RawSession second = await RawSession.TakeOverAsync(_server, lost[1].Token);
        using RawSession third = await RawSession.OpenAsync(_server);
        using RawSession fourth = await RawSession.OpenAsync(_server);
        Assert.All([lost[2], lost[3]], session => Assert.Null(_server.Server.Sessions.Find(session.Token)));

        // Those with a connection stay.
        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => _server.ConnectAsync());
        Assert.Equal(StatusCodes.BadTooManySessions, e.Status);
        Assert.Equal(4, _server.Server.SessionCount);
    }

    [Fact]
    public async Task A_session_ends_after_its_timeout_and_its_subscriptions_after_their_lifetime()
    {
        RawSession lost = await RawSession.OpenAsync(_server, timeout: 10_000);
        await lost.MonitorAsync(await lost.SubscribeAsync(100, keepAliveCount: 100, lifetimeCount: 300), 1);
        await LoseAsync(lost);

        _time.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal(1, _server.Server.SessionCount);
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(0, _server.Server.SessionCount);
        (StatusCode status, RawSession late) = await RawSession.TryTakeOverAsync(_server, lost.Token);
        Assert.Equal(StatusCodes.BadSessionIdInvalid, status);
        late.Dispose();

        Assert.True(_number.IsWatched);
        _time.Advance(TimeSpan.FromSeconds(20));
        Assert.False(_number.IsWatched);
    }

    [Fact]
    public async Task A_subscription_that_nobody_publishes_while_the_connection_is_lost_ends_and_the_session_gets_to_know_it()
    {
        RawSession lost = await RawSession.OpenAsync(_server);
        uint id = await lost.SubscribeAsync(100, keepAliveCount: 1, lifetimeCount: 3);
        await LoseAsync(lost);
        _time.Advance(TimeSpan.FromSeconds(1));

        using RawSession second = await RawSession.TakeOverAsync(_server, lost.Token);
        PublishResponse end = await second.PublishAsync();

        Assert.Equal((id, StatusCodes.BadTimeout), (end.SubscriptionId, ReadEnd(end)));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Closing_a_session_deletes_its_subscriptions_or_leaves_them_to_others(bool deletes)
    {
        using RawSession first = await RawSession.OpenAsync(_server);
        uint id = await first.SubscribeAsync(100);
        await first.MonitorAsync(id, 1);
        await first.SendPublishAsync();

        await first.CallAsync<CloseSessionRequest, CloseSessionResponse>(new CloseSessionRequest { DeleteSubscriptions = deletes });

        Assert.Equal(StatusCodes.BadSessionClosed, (await first.NextAsync()).Status);
        Assert.Equal(0, _server.Server.SessionCount);
        Assert.Equal(!deletes, _number.IsWatched);
        using RawSession second = await RawSession.OpenAsync(_server);
        TransferResult moved = await TransferAsync(second, id, sendInitialValues: true);
        Assert.Equal(deletes ? StatusCodes.BadSubscriptionIdInvalid : StatusCodes.Good, moved.StatusCode);
        if (!deletes)
        {
            await second.SendPublishAsync();
            Cycle();
            Assert.Equal<int[]>([0], Numbers((await second.NextAsync()).Response));
        }
    }

    [Fact]
    public async Task Subscriptions_that_are_left_do_not_keep_new_sessions_out()
    {
        for (int i = 0; i < 20; i++)
        {
            using RawSession one = await RawSession.OpenAsync(_server);
            await one.MonitorAsync(await one.SubscribeAsync(), 1);
            await one.CallAsync<CloseSessionRequest, CloseSessionResponse>(default);
        }

        // As many as there may be sessions.
        Assert.Equal(4, _server.Server.Sessions.Subscriptions.Count);
        Assert.Equal(0, _server.Server.SessionCount);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_transferred_subscription_goes_on_in_the_other_session(bool sendInitialValues)
    {
        using RawSession first = await OpenAsUserAsync(_server);
        using RawSession second = await OpenAsUserAsync(_server);
        uint id = await first.SubscribeAsync(100);
        await first.MonitorAsync(id, 1, queueSize: 10);
        await first.SendPublishAsync();
        Cycle();
        Assert.Equal<int[]>([0], Numbers((await first.NextAsync()).Response));
        await first.SendPublishAsync();

        TransferResult moved = await TransferAsync(second, id, sendInitialValues);

        Assert.Equal(StatusCodes.Good, moved.StatusCode);
        Assert.Equal([1u], moved.AvailableSequenceNumbers!);
        (_, PublishResponse end) = await first.NextAsync();
        Assert.Equal((id, StatusCodes.GoodSubscriptionTransferred), (end.SubscriptionId, ReadEnd(end)));
        Assert.Equal(StatusCodes.BadNoSubscription, (await first.TryAsync<PublishRequest, PublishResponse>(default)).Status);

        await second.SendPublishAsync();
        _number.Value = new DataValue(1);
        Cycle();
        Assert.Equal<int[]>(sendInitialValues ? [0, 1] : [1], Numbers((await second.NextAsync()).Response));
        var again = await second.CallAsync<RepublishRequest, RepublishResponse>(
            new RepublishRequest { SubscriptionId = id, RetransmitSequenceNumber = 1 });
        Assert.Equal(1u, again.NotificationMessage.SequenceNumber);

        // To where it is already: nothing changes.
        Assert.Equal(StatusCodes.BadNothingToDo, (await TransferAsync(second, id, sendInitialValues: false)).StatusCode);
        Assert.Equal(StatusCodes.BadSubscriptionIdInvalid, (await TransferAsync(second, id + 1, sendInitialValues: false)).StatusCode);
    }

    [Fact]
    public async Task A_transferred_subscription_tells_its_values_once_and_after_the_answer()
    {
        using RawSession first = await OpenAsUserAsync(_server);
        using RawSession second = await OpenAsUserAsync(_server);
        uint id = await first.SubscribeAsync(100);
        await first.MonitorAsync(id, 1, queueSize: 10);

        // Nobody asks for the value. In the other session a request waits already.
        Cycle();
        await second.SubscribeAsync(1_000_000);
        await second.SendPublishAsync();
        await second.TryAsync<ReadRequest, ReadResponse>(default);

        TransferResult moved = await TransferAsync(second, id, sendInitialValues: false);

        Assert.Equal(StatusCodes.Good, moved.StatusCode);
        Assert.Empty(moved.AvailableSequenceNumbers!);
        Cycle();
        (_, PublishResponse told) = await second.NextAsync();
        Assert.Equal((id, 1u), (told.SubscriptionId, told.NotificationMessage.SequenceNumber));
        Assert.Equal<int[]>([0], Numbers(told));
    }

    [Fact]
    public async Task Without_security_an_anonymous_client_gets_only_what_no_other_one_is_using()
    {
        RawSession first = await RawSession.OpenAsync(_server);
        using RawSession second = await RawSession.OpenAsync(_server);
        uint id = await first.SubscribeAsync(100, keepAliveCount: 1000, lifetimeCount: 3000);

        Assert.Equal(StatusCodes.BadUserAccessDenied, (await TransferAsync(second, id, sendInitialValues: false)).StatusCode);
        Assert.Equal(StatusCodes.BadNothingToDo, (await TransferAsync(first, id, sendInitialValues: false)).StatusCode);
        await LoseAsync(first);

        Assert.Equal(StatusCodes.Good, (await TransferAsync(second, id, sendInitialValues: false)).StatusCode);
    }

    [Theory]
    [InlineData("urn:one", "urn:one", true)]
    [InlineData("urn:one", "urn:two", false)]
    [InlineData("urn:one", null, false)]
    [InlineData(null, "urn:one", false)]
    [InlineData(null, null, true)]
    public void Anonymous_clients_are_told_apart_by_the_applications_in_their_certificates(string? one, string? other, bool isSame)
    {
        Assert.Equal(isSame, SubscriptionTransfer.IsSameUser(Session(one, 1), Session(other, 2)));

        // Without a channel; with security the certificates differ.
        ServerSession Session(string? uri, byte certificate) => new(
            _server.Server, _server.Server.Sessions, certificate, new NodeId(1, certificate), TimeSpan.FromMinutes(1), channel: null!)
        {
            ClientUri = uri,
            ClientCertificate = uri is null ? null : [certificate],
        };
    }

    [Fact]
    public async Task A_session_gets_to_know_that_its_subscription_is_taken_also_if_one_loop_serves_both()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);

        // More than there are loops: two of them share one.
        RawSession[] sessions = await Task.WhenAll(
            Enumerable.Range(0, Environment.ProcessorCount + 1).Select(_ => OpenAsUserAsync(server)));
        RawSession owner = sessions[0];
        uint id = await owner.SubscribeAsync(100);
        try
        {
            foreach (RawSession one in sessions)
            {
                foreach (RawSession other in sessions)
                {
                    await MoveAsync(one);
                    await MoveAsync(other);
                }
            }
        }
        finally
        {
            Array.ForEach(sessions, static session => session.Dispose());
        }

        async Task MoveAsync(RawSession next)
        {
            if (next == owner)
            {
                return;
            }

            // The request behind it is answered: the Publish waits at the server.
            await owner.SendPublishAsync();
            await owner.TryAsync<ReadRequest, ReadResponse>(default);
            Assert.Equal(StatusCodes.Good, (await TransferAsync(next, id, sendInitialValues: false)).StatusCode);
            Assert.Equal(StatusCodes.GoodSubscriptionTransferred, ReadEnd((await owner.NextAsync()).Response));
            owner = next;
        }
    }

    [Fact]
    public async Task Sessions_that_take_subscriptions_from_each_other_do_not_wait_for_each_other()
    {
        using RawSession first = await OpenAsUserAsync(_server);
        using RawSession second = await OpenAsUserAsync(_server);
        uint id = await first.SubscribeAsync(100);
        await first.MonitorAsync(id, 1);

        await Task.WhenAll(new[] { first, second }.Select(async session =>
        {
            for (int i = 0; i < 200; i++)
            {
                StatusCode status = (await TransferAsync(session, id, sendInitialValues: true)).StatusCode;
                Assert.True(status == StatusCodes.Good || status == StatusCodes.BadNothingToDo, $"{status}");
            }
        }));

        await TransferAsync(first, id, sendInitialValues: true);
        Assert.Equal(StatusCodes.BadNothingToDo, (await TransferAsync(first, id, sendInitialValues: true)).StatusCode);
    }

    private static int[] Numbers(in PublishResponse response) =>
        [.. RawSession.Values(response).Select(static v => v.Value.Value.Get<int>())];

    private static StatusCode ReadEnd(in PublishResponse response)
    {
        ExtensionObject change = Assert.Single(response.NotificationMessage.NotificationData!)!;
        Assert.Equal(StatusChangeNotification.EncodingId, change.TypeId.NodeId.Number);
        return new BinaryDecoder(change.Body.Span, EncodingLimits.Default).ReadStatusCode();
    }

    private static NodeId ReadToken(byte[] chunk)
    {
        var decoder = new BinaryDecoder(chunk.AsSpan(24), EncodingLimits.Default);
        decoder.ReadNodeId();
        decoder.ReadStructure<ResponseHeader>();
        return decoder.ReadStructure<CreateSessionResponse>().AuthenticationToken;
    }

    private static async Task<TransferResult> TransferAsync(RawSession session, uint id, bool sendInitialValues) =>
        Assert.Single((await session.CallAsync<TransferSubscriptionsRequest, TransferSubscriptionsResponse>(
            new TransferSubscriptionsRequest { SubscriptionIds = [id], SendInitialValues = sendInitialValues })).Results!);

    // Without security anonymous sessions do not take from each other.
    private static async Task<RawSession> OpenAsUserAsync(TestServer server)
    {
        RawSession session = await RawSession.OpenAsync(server);
        ServerSession own = server.Server.Sessions.Find(session.Token)!;
        var done = new TaskCompletionSource<StatusCode>();
        own.Channel!.Post(() => done.SetResult(own.Activate(
            own.Channel, new UserIdentity("ann", Certificate: null), identity: null, server.Server.Time.GetTimestamp(), out _)));
        Assert.Equal(StatusCodes.Good, await done.Task.InTimeAsync());
        return session;
    }

    private void Cycle() => _time.Advance(TimeSpan.FromMilliseconds(100));

    private async Task LoseAsync(RawSession session)
    {
        ServerSession lost = _server.Server.Sessions.Find(session.Token)!;
        session.Dispose();
        await Patience.UntilAsync(() => lost.Channel is null, "the server has seen the end of the connection");
    }
}
