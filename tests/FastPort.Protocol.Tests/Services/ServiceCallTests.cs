using Google.Protobuf.WellKnownTypes;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>A generated client calls a service that derives from the generated base class.</summary>
public sealed class ServiceCallTests
{
    public static TheoryData<string> Endpoints => ["tcp://127.0.0.1:0", "inproc://services"];

    public static TheoryData<string> Kinds => ["Walk", "Turn", "Look"];

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task All_kinds_of_methods_answer(string endpoint)
    {
        await using Loopback loop = await StartAsync(endpoint);
        var client = new WalkingClient(loop.Client);

        Assert.Equal(2, (await client.WalkAsync(new Step { East = 1 })).East);
        Assert.Equal(3, (await client.TurnAsync(new Step { East = 2 })).East);
        Assert.Equal(4, (await client.LookAsync(new Step { East = 3 })).East);
    }

    [Fact]
    public async Task Methods_run_where_their_options_say()
    {
        await using Loopback loop = await StartAsync();
        var client = new WalkingClient(loop.Client);

        Assert.Equal("loop", (await client.TurnAsync(new Step())).Note);
        Assert.Equal("loop", (await client.LookAsync(new Step())).Note);

        // Walk is last: its reply may arrive before the worker has counted its start, and a call after it would be queued.
        Assert.Equal("pool", (await client.WalkAsync(new Step())).Note);
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_server_calls_its_client(string endpoint)
    {
        await using Loopback loop = await StartAsync(endpoint);

        Assert.Equal("Ann", (await new WalkingClient(loop.Client).CallBackAsync(new Step())).Note);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Each_of_many_calls_gets_its_own_reply(string method)
    {
        await using Loopback loop = await StartAsync();
        var client = new WalkingClient(loop.Client);

        Place[] places = await Task.WhenAll(Enumerable.Range(0, 300).Select(i => CallAsync(client, method, new Step { East = i })));

        Assert.Equal(Enumerable.Range(1, 300), places.Select(static place => place.East));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_refusal_arrives_with_its_code_and_sentence(string method)
    {
        await using Loopback loop = await StartAsync();

        RequestFailedException failure = await FailureAsync(loop, method, "refuse");

        Assert.Equal(ErrorCode.Forbidden, failure.Code);
        Assert.Contains("Not this way.", failure.Message, StringComparison.Ordinal);
        Assert.Empty(loop.Log.Errors);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_exception_is_logged_with_the_methods_name_and_answered_without_its_message(string method)
    {
        await using Loopback loop = await StartAsync();

        RequestFailedException failure = await FailureAsync(loop, method, "throw");

        Assert.Equal(ErrorCode.Internal, failure.Code);
        Assert.DoesNotContain("1234", failure.Message, StringComparison.Ordinal);
        Assert.Contains($"walking.Walking/{method}", Assert.Single(loop.Log.Errors), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_method_that_is_not_overridden_is_answered_as_by_a_peer_without_it()
    {
        await using Loopback loop = await StartAsync();
        await using Loopback bare = await Loopback.StartAsync(new MessageHandlers());
        var client = new WalkingClient(loop.Client);

        RequestFailedException queued = await Assert.ThrowsAsync<RequestFailedException>(() => client.RestAsync(new Empty()));
        RequestFailedException inline = await Assert.ThrowsAsync<RequestFailedException>(() => client.StopAsync(new Empty()));
        RequestFailedException without = await Assert.ThrowsAsync<RequestFailedException>(
            () => new WalkingClient(bare.Client).RestAsync(new Empty()));

        Assert.Equal(ErrorCode.UnknownType, without.Code);
        Assert.Equal(without.Code, queued.Code);
        Assert.Equal(without.Code, inline.Code);
        Assert.Contains("walking.Walking/Rest, message type 0x2003, is not implemented", queued.Message, StringComparison.Ordinal);
        Assert.Empty(loop.Log.Errors);

        // The session lives.
        await client.LookAsync(new Step());
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_body_that_does_not_parse_is_malformed(string method)
    {
        await using Loopback loop = await StartAsync();
        ushort type = method switch
        {
            "Walk" => WalkingMethods.Walk.Type,
            "Turn" => WalkingMethods.Turn.Type,
            _ => WalkingMethods.Look.Type,
        };

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, Loopback.NoMessage);

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Contains("Step", failure.Message, StringComparison.Ordinal);
        await CallAsync(new WalkingClient(loop.Client), method, new Step());
    }

    [Fact]
    public async Task A_call_ends_at_its_timeout_and_when_it_is_canceled()
    {
        var service = new WaitingService();
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(service));
        var client = new WalkingClient(loop.Client);

        // Long enough for the server to begin the call: it begins none whose deadline has passed.
        RequestFailedException late = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.WalkAsync(new Step(), TimeSpan.FromMilliseconds(500)));
        Assert.Equal(RequestFailure.TimedOut, late.Failure);
        Assert.True(await service.Started.WaitAsync(Loopback.Soon));

        using var source = new CancellationTokenSource();
        Task<Place> call = client.WalkAsync(new Step(), cancellationToken: source.Token);
        Assert.True(await service.Started.WaitAsync(Loopback.Soon));
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
    }

    [Fact]
    public void Methods_have_the_types_and_names_of_the_contract()
    {
        MessageHandlers handlers = new MessageHandlers().MapService(new WalkingService());

        Assert.Equal([0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x20FF], handlers.Types);
        Assert.Equal("walking.Walking/Walk", handlers.NameOf(0x2000));
        Assert.Equal("walking.Walking/CallBackAsync (0x20FF)", WalkingMethods.CallBack.ToString());
        Assert.Same(Step.Parser, WalkingMethods.Walk.RequestParser);
        Assert.Same(Place.Parser, WalkingMethods.Walk.ReplyParser);
    }

    [Fact]
    public void A_service_is_registered_once()
    {
        MessageHandlers handlers = new MessageHandlers().MapService(new WalkingService());

        ArgumentException refused = Assert.Throws<ArgumentException>(() => handlers.MapService(new WalkingService()));

        Assert.Contains("walking.Walking/Walk", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_substitute_implements_what_its_test_needs()
    {
        IWalkingClient substitute = new Substitute();

        Assert.Equal(7, (await substitute.WalkAsync(new Step())).East);
        NotSupportedException lacks = await Assert.ThrowsAsync<NotSupportedException>(() => substitute.LookAsync(new Step()));
        Assert.Contains("IWalkingClient does not implement LookAsync", lacks.Message, StringComparison.Ordinal);
    }

    private static async Task<RequestFailedException> FailureAsync(Loopback loop, string method, string note) =>
        await Assert.ThrowsAsync<RequestFailedException>(
            () => CallAsync(new WalkingClient(loop.Client), method, new Step { Note = note }));

    private static Task<Place> CallAsync(WalkingClient client, string method, Step step) => method switch
    {
        "Walk" => client.WalkAsync(step),
        "Turn" => client.TurnAsync(step),
        _ => client.LookAsync(step),
    };

    private static Task<Loopback> StartAsync(string endpoint = "tcp://127.0.0.1:0") => Loopback.StartAsync(
        new MessageHandlers().MapService(new WalkingService()),
        new MessageHandlers().MapService(new WalkerService()),
        options =>
        {
            options.Endpoints.Clear();
            options.Endpoints.Add(endpoint);
        });

    private sealed class WaitingService : WalkingBase
    {
        public SemaphoreSlim Started { get; } = new(0);

        public override async ValueTask<Place> WalkAsync(Step request, RequestContext context)
        {
            CancellationToken aborted = context.Aborted;
            Started.Release();
            await Task.Delay(Timeout.Infinite, aborted);
            return new Place();
        }
    }

    private sealed class Substitute : IWalkingClient
    {
        public Task<Place> WalkAsync(Step request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
            Task.FromResult(new Place { East = 7 });
    }
}
