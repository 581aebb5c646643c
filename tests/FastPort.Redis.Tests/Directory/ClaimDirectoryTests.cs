using System.Text;
using FastPort.Framing;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using FastPort.Redis.Wire;
using FastPort.Sessions;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests.Directory;

/// <summary>What a node does when it and Redis know different things about an id.</summary>
public sealed class ClaimDirectoryTests
{
    private const string Key = "fastport:id:machine-7";
    private static readonly RedisKey[] NodeKeys = ["{fastport:nodes}", "{fastport:nodes}:version"];
    private static readonly byte[] Id = Encoding.UTF8.GetBytes("machine-7");

    [RedisFact]
    public async Task A_session_whose_id_was_taken_over_by_a_claim_without_an_answer_is_closed()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient client = await a.ConnectAsync("machine-7", reconnect: false);
        Session session = a.Server.Routing.Find("machine-7")!;
        ClaimDirectory directory = a.Backplane.Running!.Directory;
        long token = directory.Find(Id)!.Token;
        await redis.RunAsync("SET", Key, $"{b.Instance()}:{token + 1}");

        directory.TakenOver(Id, token);

        Assert.Equal(CloseKind.TakenOver, (await session.Closed.InTimeAsync()).Kind);
        Assert.Equal($"{b.Instance()}:{token + 1}", (await redis.RunAsync("GET", Key)).Trim());
    }

    [RedisFact]
    public async Task A_session_whose_id_was_taken_over_by_a_session_that_has_gone_keeps_it()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using FastPortClient client = await a.ConnectAsync("machine-7");
        ClaimDirectory directory = a.Backplane.Running!.Directory;
        long token = directory.Find(Id)!.Token;
        await redis.RunAsync("DEL", Key);

        directory.TakenOver(Id, token);

        await Patience.UntilAsync(
            async () => (await redis.RunAsync("GET", Key)).Trim() == $"{a.Instance()}:{token}", "the key is there again");
        Assert.Equal(token, directory.Find(Id)!.Token);
        Assert.NotNull(a.Server.Routing.Find("machine-7"));
    }

    [RedisFact]
    public async Task A_claim_of_the_same_node_whose_answer_was_lost_does_not_close_the_session_before_it()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using FastPortClient client = await a.ConnectAsync("machine-7");
        ClaimDirectory directory = a.Backplane.Running!.Directory;
        long token = directory.Find(Id)!.Token;
        await redis.RunAsync("SET", Key, $"{a.Instance()}:{token + 1}");

        int lost = await directory.ClaimAgainAsync();

        Assert.Equal(0, lost);
        Assert.Equal(token + 1, directory.Find(Id)!.Token);
        Assert.Equal(directory.Find(Id)!.Token, (await directory.LookUpAsync(Id))!.Value.Token);
        Assert.NotNull(a.Server.Routing.Find("machine-7"));
    }

    [RedisFact]
    public async Task An_id_is_refused_while_a_session_has_it_whatever_token_Redis_knows()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient client = await a.ConnectAsync("machine-7");
        await redis.RunAsync("SET", Key, $"{a.Instance()}:{a.Backplane.Running!.Directory.Find(Id)!.Token + 1}");

        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => b.ConnectAsync("machine-7"));

        Assert.Equal(ErrorCode.DuplicateIdentity, refused.Code);
    }

    /// <summary>The lease is longer than the test waits: without an answer of its own, the challenge would wait for its end.</summary>
    [RedisFact]
    public async Task A_challenge_that_nobody_receives_is_answered_at_once()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:Backplane:Lease", "00:01:00"));

        bool? keeps = await a.Backplane.Running!.Transport.ChallengeAsync(new Location(4711, 1), Id).AsTask().InTimeAsync();

        Assert.Null(keeps);
    }

    /// <summary>The location that was known before is wrong then, and must not be asked for room.</summary>
    [RedisFact]
    public async Task Who_waits_for_room_of_a_target_that_has_come_to_this_node_waits_for_its_queue()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using (await b.ConnectAsync("machine-7"))
        {
            await sender.RelayAsync("machine-7", 1, new byte[] { 1 });
        }

        await Patience.UntilAsync(() => b.Backplane.Running!.Directory.Count == 0, "the id is free");
        await using FastPortClient target = await a.ConnectAsync("machine-7");
        RunningBackplane running = a.Backplane.Running!;
        Assert.True(running.Lookups.TryGet(Id, out _));
        var local = new NeverWritable();

        Task room = new BackplaneRouter(a.Backplane, local).WhenWritableAsync(Id);

        Assert.Same(local.Room, room);
    }

    /// <summary>The session that it has at another node receives until then. The local router would have nothing to wait for.</summary>
    [RedisFact]
    public async Task Who_waits_for_room_of_a_target_that_a_session_of_this_node_only_asks_for_waits_for_the_link()
    {
        const ulong Silent = 4711;
        var silent = new Member("silent", Silent, BatchBuffer.Version);
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:Backplane:Lease", "00:01:00"));
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        await connection.GetDatabase().ScriptEvaluateAsync(
            MembershipScripts.Renew, NodeKeys, [silent.ToString(), 60_000, "", ""]);
        await connection.GetSubscriber().SubscribeAsync(a.Backplane.Running!.Transport.ChannelOf(Silent), static (_, _) => { });
        await redis.RunAsync("SET", Key, $"{Member.Format(Silent)}:1");
        await using FastPortClient client = await a.ConnectAsync(string.Empty);
        RunningBackplane running = a.Backplane.Running!;
        var claim = new RoutingIdClaim(a.Server.Sessions.Single(), "machine-7", takesOver: false);
        Task<RoutingIdGrant> grant = running.Directory.ClaimAsync(claim, Patience.Token).AsTask();
        Assert.Equal(0, running.Directory.Find(Id)!.Token);
        Assert.True(await running.Members.IsAliveAsync(Silent));
        running.Lookups.Know(Id, new Location(Silent, 1));
        NodeLink link = running.Transport.LinkTo(Silent);
        Assert.Equal(
            SendStatus.Queued,
            link.TryRelay(null, 0, running.Transport.Self, token: 1, type: 1, hops: 0, Id, new RawBody(new byte[NodeLink.WindowBytes])));

        Task room = new BackplaneRouter(a.Backplane, new NeverWritable()).WhenWritableAsync(Id);

        Assert.Same(link.WhenRoomAsync(), room);
        Assert.False(grant.IsCompleted);
        await connection.GetDatabase().ScriptEvaluateAsync(MembershipScripts.Leave, NodeKeys, [silent.ToString()]);
        Assert.False(await running.Members.IsAliveAsync(1));
        await room.InTimeAsync();
    }

    /// <summary>At whichever moment the newer session ends: before its claim is sent, while the answer is due, or after it.</summary>
    [RedisTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_take_over_by_a_session_that_ends_leaves_the_id_with_the_one_before_it(bool atOtherNode)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node node = await Node.StartAsync(redis, "server");
        await using FastPortClient client = await node.ConnectAsync(string.Empty);
        Session session = node.Server.Sessions.Single();
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        await using var a = new Claimer(connection.GetDatabase(), "a");
        await using var b = new Claimer(connection.GetDatabase(), "b");
        a.Tells = b.Directory;
        b.Tells = a.Directory;
        await a.Members.JoinAsync(Patience.Token);
        await b.Members.JoinAsync(Patience.Token);
        var before = new RoutingIdClaim(session, "machine-7", takesOver: false);
        Assert.Equal(RoutingIdGrant.Granted, await a.Directory.ClaimAsync(before, Patience.Token));
        ClaimDirectory other = (atOtherNode ? b : a).Directory;
        int ended = 0;
        for (int i = 0; i < 200; i++)
        {
            using var end = new CancellationTokenSource();
            var claim = new RoutingIdClaim(session, "machine-7", takesOver: true);
            Task<RoutingIdGrant> answer = other.ClaimAsync(claim, end.Token).AsTask();
            Thread.SpinWait(i * 200);
            await end.CancelAsync();
            other.Release(claim);
            RoutingIdGrant grant = await answer.InTimeAsync();
            if (grant == RoutingIdGrant.Granted && atOtherNode)
            {
                // It had the id for a moment: the session before has lost it, or keeps it if it was told after the end of the newer one.
                await Patience.UntilAsync(async () => a.Directory.Find(Id) is null || await HasItAsync(), "what became of it is known");
                if (a.Directory.Find(Id) is null)
                {
                    Assert.Equal(RoutingIdGrant.Granted, await a.Directory.ClaimAsync(before, Patience.Token));
                }

                continue;
            }

            ended++;
            await Patience.UntilAsync(HasItAsync, "the session before has the id, in the directory too");
        }

        Assert.NotEqual(0, ended);
        a.Directory.Release(before);
        await Patience.UntilAsync(async () => await a.Directory.LookUpAsync(Id) is null, "the id is free");
        Assert.Equal((0, 0), (a.Directory.Count, b.Directory.Count));

        async Task<bool> HasItAsync() => a.Directory.Find(Id) is { } own && await a.Directory.LookUpAsync(Id) is { } found
            && found == new Location(a.Members.Self.Instance, own.Token);
    }

    /// <summary>Redis was started again empty between the claim and its answer, and all other ids were claimed again meanwhile.</summary>
    [RedisFact]
    public async Task A_claim_that_was_granted_before_all_others_were_made_again_is_made_again_too()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node node = await Node.StartAsync(redis, "server");
        await using FastPortClient client = await node.ConnectAsync(string.Empty);
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using var a = new Claimer(database, "a");
        await a.Members.JoinAsync(Patience.Token);
        var claim = new RoutingIdClaim(node.Server.Sessions.Single(), "machine-7", takesOver: false);
        answers.Hold();
        Task<RoutingIdGrant> grant = a.Directory.ClaimAsync(claim, Patience.Token).AsTask();
        HeldAnswer granted = await answers.NextAsync();
        answers.HoldNoMore();
        await redis.RunAsync("DEL", Key);
        Assert.Equal(0, await a.Directory.ClaimAgainAsync());

        granted.Give();

        Assert.Equal(RoutingIdGrant.Granted, await grant.InTimeAsync());
        Assert.Equal(a.Directory.Find(Id)!.Token, (await a.Directory.LookUpAsync(Id))!.Value.Token);
    }

    /// <summary>The id was lost to another node between the claim and its answer, and the claim before it with it.</summary>
    [RedisFact]
    public async Task A_claim_that_was_granted_before_the_id_was_lost_is_lost_too()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node node = await Node.StartAsync(redis, "server");
        await using FastPortClient client = await node.ConnectAsync(string.Empty, reconnect: false);
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using var a = new Claimer(database, "a");
        await a.Members.JoinAsync(Patience.Token);
        Session session = node.Server.Sessions.Single();
        Assert.Equal(
            RoutingIdGrant.Granted,
            await a.Directory.ClaimAsync(new RoutingIdClaim(session, "machine-7", takesOver: false), Patience.Token));
        answers.Hold();
        var claim = new RoutingIdClaim(session, "machine-7", takesOver: true);
        Task<RoutingIdGrant> grant = a.Directory.ClaimAsync(claim, Patience.Token).AsTask();
        HeldAnswer granted = await answers.NextAsync();
        answers.HoldNoMore();
        await redis.RunAsync("SET", Key, $"{Member.Format(4711)}:9999999999999999");
        Assert.Equal(1, await a.Directory.ClaimAgainAsync());

        granted.Give();

        Assert.Equal(RoutingIdGrant.Taken, await grant.InTimeAsync());
    }

    [RedisFact]
    public async Task Keys_are_set_again_after_a_command_was_canceled()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node node = await Node.StartAsync(redis, "server");
        await using FastPortClient client = await node.ConnectAsync(string.Empty);
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using var a = new Claimer(database, "a");
        await a.Members.JoinAsync(Patience.Token);
        var claim = new RoutingIdClaim(node.Server.Sessions.Single(), "machine-7", takesOver: false);
        Assert.Equal(RoutingIdGrant.Granted, await a.Directory.ClaimAsync(claim, Patience.Token));
        answers.Hold();
        a.Directory.Start();
        a.Directory.KeepNow();

        (await answers.NextAsync()).Fail(new OperationCanceledException("Not by the directory."));

        // Whether it was set is not known.
        (await answers.NextAsync()).Give();
        answers.HoldNoMore();
    }

    /// <summary>Such as a server of a cluster that takes no writes, while the others do.</summary>
    [RedisFact]
    public async Task A_key_that_cannot_be_set_again_keeps_no_other_from_being_set()
    {
        const int Ids = 600;
        const string Count = "return #redis.call('keys', 'fastport:id:*')";
        const string Remove = "return redis.call('del', unpack(redis.call('keys', 'fastport:id:*')))";
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node node = await Node.StartAsync(redis, "server");
        await using FastPortClient client = await node.ConnectAsync(string.Empty);
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using var a = new Claimer(database, "a");
        await a.Members.JoinAsync(Patience.Token);
        Session session = node.Server.Sessions.Single();
        RoutingIdGrant[] grants = await Task.WhenAll(Enumerable.Range(0, Ids).Select(i =>
            a.Directory.ClaimAsync(new RoutingIdClaim(session, $"id-{i}", takesOver: false), Patience.Token).AsTask()));
        Assert.DoesNotContain(grants, static grant => grant != RoutingIdGrant.Granted);
        Assert.Equal("600", (await redis.RunAsync("EVAL", Remove, "0")).Trim());

        // All that are asked for before the first answer; the others are not held.
        answers.Hold();
        Task<int> again = a.Directory.ClaimAgainAsync();
        answers.HoldNoMore();
        (await answers.NextAsync()).Fail(new RedisException("MISCONF"));
        while (!again.IsCompleted)
        {
            Task<HeldAnswer> next = answers.NextAsync();
            if (await Task.WhenAny(again, next) == next)
            {
                (await next).Give();
            }
        }

        Assert.Equal("MISCONF", (await Assert.ThrowsAsync<RedisException>(() => again)).Message);
        Assert.Equal("600", (await redis.RunAsync("EVAL", Count, "0")).Trim());
        Assert.Equal("MISCONF", Assert.Single(a.Log.WithId(6013)).Exception!.Message);
        Assert.Equal(0, await a.Directory.ClaimAgainAsync());
    }

    private sealed class Claimer : IAsyncDisposable
    {
        public Claimer(IDatabase database, string name)
        {
            Members = new Membership(database, "fastport", name, TimeSpan.FromSeconds(30), TimeProvider.System)
            {
                ClaimAgain = static () => Task.CompletedTask,
            };
            Directory = new ClaimDirectory(database, "fastport", Members, Log)
            {
                ChallengeAsync = static (_, _) => new ValueTask<bool?>(true),
                TellTakenOver = (former, id) => Tells!.TakenOver(id, former.Token),
            };
        }

        public RecordingLog Log { get; } = new();

        public Membership Members { get; }

        public ClaimDirectory Directory { get; }

        public ClaimDirectory? Tells { get; set; }

        public async ValueTask DisposeAsync()
        {
            await Directory.DisposeAsync();
            await Members.DisposeAsync();
        }
    }
}
