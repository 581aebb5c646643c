using System.Collections.Concurrent;
using FastPort.Protocol.Tests.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>Code around the methods of services.</summary>
public sealed class ServerInterceptorTests
{
    private readonly ConcurrentQueue<string> _seen = new();

    public static TheoryData<string> Kinds => ["Walk", "Turn", "Look"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Interceptors_run_around_a_method_in_the_order_given(string method)
    {
        await using Loopback loop = await StartAsync(new Recording(_seen, "outer"), new Recording(_seen, "inner"));

        Place place = await CallAsync(new WalkingClient(loop.Client), method, new Step { East = 1 });

        Assert.Equal(2, place.East);
        Assert.Equal(
            [
                $"outer begins walking.Walking/{method} Step", $"inner begins walking.Walking/{method} Step",
                $"inner ends walking.Walking/{method} Place", $"outer ends walking.Walking/{method} Place",
            ],
            _seen);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_interceptor_refuses_a_call_before_the_method_runs(string method)
    {
        await using Loopback loop = await StartAsync(new Refusing(), new Recording(_seen, "inner"));

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => CallAsync(new WalkingClient(loop.Client), method, new Step { Note = "forbidden" }));

        Assert.Equal(ErrorCode.Forbidden, failure.Code);
        Assert.Empty(_seen);
        await CallAsync(new WalkingClient(loop.Client), method, new Step());
        Assert.Empty(loop.Log.Errors);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_interceptor_makes_an_error_of_an_exception(string method)
    {
        await using Loopback loop = await StartAsync(new Mapping());

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => CallAsync(new WalkingClient(loop.Client), method, new Step { Note = "throw" }));

        Assert.Equal(ErrorCode.Unavailable, failure.Code);
        Assert.Empty(loop.Log.Errors);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task An_interceptor_changes_request_and_reply(string method)
    {
        await using Loopback loop = await StartAsync(new Changing());

        Assert.Equal(1011, (await CallAsync(new WalkingClient(loop.Client), method, new Step { East = 1 })).East);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task What_an_interceptor_throws_is_logged_with_the_methods_name(string method)
    {
        await using Loopback loop = await StartAsync(new Throwing());

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => CallAsync(new WalkingClient(loop.Client), method, new Step()));

        Assert.Equal(ErrorCode.Internal, failure.Code);
        Assert.Contains($"walking.Walking/{method}", Assert.Single(loop.Log.Errors), StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Each_of_many_calls_gets_its_own_reply_through_an_interceptor_that_waits(string method)
    {
        await using Loopback loop = await StartAsync(new Yielding());
        var client = new WalkingClient(loop.Client);

        Place[] places = await Task.WhenAll(Enumerable.Range(0, 300).Select(i => CallAsync(client, method, new Step { East = i })));

        Assert.Equal(Enumerable.Range(1, 300), places.Select(static place => place.East));
    }

    [Fact]
    public async Task Inline_methods_of_a_session_run_one_after_the_other_though_an_interceptor_waits()
    {
        var held = new Holding();
        await using Loopback loop = await StartAsync(held, new Recording(_seen, "inner"));
        await using FastPortClient other = await Loopback.ConnectAsync(loop.Server);
        var client = new WalkingClient(loop.Client);

        Task<Place> first = client.LookAsync(new Step { East = 1, Note = "hold" });
        Task<Place> second = client.LookAsync(new Step { East = 2 });
        await held.Entered.Task;

        // Other sessions are not held up, and the second call of this one has not begun.
        Assert.Equal(4, (await new WalkingClient(other).LookAsync(new Step { East = 3 })).East);
        Assert.Equal(2, _seen.Count);
        held.Release.SetResult();

        Assert.Equal((2, 3), ((await first).East, (await second).East));
        await loop.PassAsync();
    }

    [Fact]
    public async Task A_refusal_after_a_wait_is_that_of_the_call()
    {
        var held = new Holding { Refuses = true };
        await using Loopback loop = await StartAsync(held);
        var client = new WalkingClient(loop.Client);

        Task<Place> call = client.LookAsync(new Step { Note = "hold" });
        await held.Entered.Task;
        held.Release.SetResult();

        Assert.Equal(ErrorCode.NotFound, (await Assert.ThrowsAsync<RequestFailedException>(() => call)).Code);
        await client.LookAsync(new Step());
    }

    [Fact]
    public async Task A_server_that_stops_answers_an_inline_call_whose_interceptor_waits()
    {
        var held = new Holding();
        await using Loopback loop = await StartAsync(held);

        Task<Place> call = new WalkingClient(loop.Client).LookAsync(new Step { East = 1, Note = "hold" });
        await held.Entered.Task;
        Task stopping = loop.Server.StopAsync();
        held.Release.SetResult();

        Assert.Equal(2, (await call).East);
        await stopping;
    }

    [Fact]
    public async Task A_body_that_does_not_parse_reaches_no_interceptor()
    {
        await using Loopback loop = await StartAsync(new Recording(_seen, "outer"));

        foreach (ushort type in (ushort[])[WalkingMethods.Walk.Type, WalkingMethods.Turn.Type, WalkingMethods.Look.Type])
        {
            Assert.Equal(ErrorCode.MalformedBody, (await Loopback.FailureAsync(loop.Client, type, Loopback.NoMessage)).Code);
        }

        Assert.Empty(_seen);
    }

    [Fact]
    public async Task The_call_tells_session_and_time_left_and_is_canceled_with_the_caller()
    {
        var held = new Holding();
        await using Loopback loop = await StartAsync(held);
        using var source = new CancellationTokenSource();

        Task<Place> call = new WalkingClient(loop.Client).WalkAsync(
            new Step { Note = "hold" }, TimeSpan.FromMinutes(5), source.Token);
        (Session session, TimeSpan? left, CancellationToken canceled) = await held.Entered.Task;
        await source.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        await Patience.UntilAsync(() => canceled.IsCancellationRequested, "the call was canceled");
        Assert.Same(Assert.Single(loop.Server.Sessions), session);
        Assert.InRange(left!.Value, TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(5));
        held.Release.SetResult();
    }

    [Fact]
    public async Task Streams_are_intercepted_in_both_directions()
    {
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers().MapService(new CountingService(), new Recording(_seen, "outer")));
        var client = new CountingClient(loop.Client);

        Assert.Equal([1L, 2L], await client.CountAsync(new Number { Value = 2 }).Select(static n => n.Value).ToListAsync());
        Assert.Equal(6, (await client.SumAsync(Numbers(1, 2, 3))).Value);
        Assert.Equal([1L, 3L], await client.TotalAsync(Numbers(1, 2)).Select(static n => n.Value).ToListAsync());

        Assert.Equal(
            [
                "outer begins counting.Counting/Count Number", "outer passes 1", "outer passes 2", "outer ends counting.Counting/Count",
                "outer begins counting.Counting/Sum IAsyncEnumerable`1", "outer ends counting.Counting/Sum Number",
                "outer begins counting.Counting/Total IAsyncEnumerable`1", "outer passes 1", "outer passes 3",
                "outer ends counting.Counting/Total",
            ],
            _seen);
    }

    [Fact]
    public async Task Interceptors_of_a_host_are_around_the_services_of_its_server_alone_and_made_once()
    {
        await using TestHost host = await TestHost.StartAsync(builder =>
        {
            builder.Services.AddSingleton(_seen);
            builder.Services
                .AddFastPort(
                    "other", new ConfigurationBuilder().Build().GetSection("Other"),
                    static options => options.Endpoints.Add("tcp://127.0.0.1:0"))
                .AddServerInterceptor<Third>();
            builder.AddServerInterceptor<First>().MapService<WalkingService>(ServiceLifetime.Singleton).AddServerInterceptor<Second>();
        });
        await using FastPortClient connection = await Loopback.ConnectAsync(host.Server);
        var client = new WalkingClient(connection);

        await client.WalkAsync(new Step());
        await client.LookAsync(new Step());

        Assert.Equal(
            ["First is made", "Second is made", "First", "Second", "First", "Second"], _seen);
    }

    private static async IAsyncEnumerable<Number> Numbers(params long[] values)
    {
        foreach (long value in values)
        {
            await Task.Yield();
            yield return new Number { Value = value };
        }
    }

    private static Task<Place> CallAsync(WalkingClient client, string method, Step step) => method switch
    {
        "Walk" => client.WalkAsync(step),
        "Turn" => client.TurnAsync(step),
        _ => client.LookAsync(step),
    };

    private static Task<Loopback> StartAsync(params IServerInterceptor[] interceptors) => Loopback.StartAsync(
        new MessageHandlers().MapService(new WalkingService(), interceptors),
        configure: static options => options.Session.MaxConcurrency = 4);

    private sealed class Recording(ConcurrentQueue<string> seen, string name) : IServerInterceptor
    {
        public async ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
        {
            seen.Enqueue($"{name} begins {call.Method} {typeof(TRequest).Name}");
            TReply reply = await next(call);
            seen.Enqueue($"{name} ends {call.Method} {typeof(TReply).Name}");
            return reply;
        }

        public async IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> next)
        {
            seen.Enqueue($"{name} begins {call.Method} {typeof(TRequest).Name}");
            await foreach (TReply reply in next(call))
            {
                seen.Enqueue($"{name} passes {((Number)(object)reply!).Value}");
                yield return reply;
            }

            seen.Enqueue($"{name} ends {call.Method}");
        }
    }

    private abstract class Unary : IServerInterceptor
    {
        public abstract ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next);

        public IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> next) => next(call);
    }

    private sealed class Refusing : Unary
    {
        public override ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next) => call.Request is Step { Note: "forbidden" }
                ? throw new RequestRefusedException(ErrorCode.Forbidden, "Not you.")
                : next(call);
    }

    private sealed class Mapping : Unary
    {
        public override async ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
        {
            try
            {
                return await next(call);
            }
            catch (InvalidOperationException)
            {
                throw new RequestRefusedException(ErrorCode.Unavailable, "The data source is not connected.");
            }
        }
    }

    private sealed class Changing : Unary
    {
        public override async ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
        {
            var step = (Step)(object)call.Request!;
            TReply reply = await next(call with { Request = (TRequest)(object)new Step { East = step.East + 1000 } });
            ((Place)(object)reply!).East += 9;
            return reply;
        }
    }

    private sealed class Throwing : Unary
    {
        public override ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next) =>
            throw new InvalidOperationException("the password is 1234");
    }

    private sealed class Yielding : Unary
    {
        public override async ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
        {
            await Task.Yield();
            return await next(call);
        }
    }

    private sealed class Holding : Unary
    {
        public bool Refuses { get; init; }

        public TaskCompletionSource<(Session Session, TimeSpan? Left, CancellationToken Canceled)> Entered { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Release { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public override async ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
        {
            if (call.Request is Step { Note: "hold" })
            {
                Entered.SetResult((call.Session, call.TimeLeft, call.CancellationToken));
                await Release.Task;
                if (Refuses)
                {
                    throw new RequestRefusedException(ErrorCode.NotFound, "There is no such place.");
                }
            }

            return await next(call);
        }
    }

    private abstract class Made : Unary
    {
        private readonly ConcurrentQueue<string> _seen;

        protected Made(ConcurrentQueue<string> seen)
        {
            _seen = seen;
            seen.Enqueue($"{GetType().Name} is made");
        }

        public override ValueTask<TReply> CallAsync<TRequest, TReply>(
            ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
        {
            _seen.Enqueue(GetType().Name);
            return next(call);
        }
    }

    private sealed class First(ConcurrentQueue<string> seen) : Made(seen);

    private sealed class Second(ConcurrentQueue<string> seen) : Made(seen);

    private sealed class Third(ConcurrentQueue<string> seen) : Made(seen);
}
