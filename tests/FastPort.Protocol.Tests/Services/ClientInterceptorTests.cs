using System.Collections.Concurrent;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>Code around the calls of generated clients.</summary>
public sealed class ClientInterceptorTests
{
    private readonly ConcurrentQueue<string> _seen = new();

    [Fact]
    public async Task Interceptors_run_around_a_call_in_the_order_given()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new WalkingService()));
        var client = new WalkingClient(
            new ServicePeer(loop.Client).Intercept(new Recording(_seen, "first")).Intercept(new Recording(_seen, "second")));

        Assert.Equal(2, (await client.WalkAsync(new Step { East = 1 })).East);

        Assert.Equal(
            [
                "first begins walking.Walking/Walk", "second begins walking.Walking/Walk", "second ends", "first ends",
            ],
            _seen);
    }

    [Fact]
    public async Task An_interceptor_repeats_a_call_that_failed()
    {
        var service = new FailingService(failures: 2);
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(service));
        var client = new WalkingClient(new ServicePeer(loop.Client).Intercept(new Retrying(attempts: 3)));

        Assert.Equal(5, (await client.LookAsync(new Step { East = 4 })).East);
        Assert.Equal(3, service.Calls);
    }

    [Fact]
    public async Task An_interceptor_changes_the_call()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new WalkingService()));
        using var source = new CancellationTokenSource();
        await source.CancelAsync();
        var client = new WalkingClient(new ServicePeer(loop.Client).Intercept(new Canceling(source.Token)));

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => client.WalkAsync(new Step()));
    }

    [Fact]
    public async Task The_call_carries_what_its_caller_gave()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new CountingService()));
        var capture = new Capturing();
        var client = new CountingClient(new ServicePeer(loop.Client).Intercept(capture));
        using var source = new CancellationTokenSource();

        await client.SumAsync(Numbers(1, 2), TimeSpan.FromSeconds(11), source.Token);
        Assert.Equal(("counting.Counting/Sum", 0x2201, TimeSpan.FromSeconds(11), null, source.Token), capture.Call);

        IAsyncEnumerable<Number> numbers = client.CountAsync(
            new Number { Value = 2 }, TimeSpan.FromSeconds(12), TimeSpan.FromSeconds(13), source.Token);
        Assert.Equal(2, await numbers.CountAsync());
        Assert.Equal(("counting.Counting/Count", 0x2200, TimeSpan.FromSeconds(12), TimeSpan.FromSeconds(13), source.Token), capture.Call);

        Assert.Equal([1L, 3L], await client.TotalAsync(Numbers(1, 2)).Select(static n => n.Value).ToListAsync());
        Assert.Equal(("counting.Counting/Total", 0x2202, null, null, CancellationToken.None), capture.Call);
    }

    [Fact]
    public async Task A_session_is_called_through_interceptors_too()
    {
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers(), new MessageHandlers().MapService(new WalkerService()));
        Session session = loop.Server.Sessions.Single();
        var client = new WalkerClient(new ServicePeer(session).Intercept(new Recording(_seen, "outer")));

        Assert.Equal("Ann", (await client.NameAsync(new Google.Protobuf.WellKnownTypes.Empty())).Note);
        Assert.Equal(["outer begins walking.Walker/Name", "outer ends"], _seen);
    }

    [Fact]
    public void A_call_without_interceptors_allocates_nothing_of_its_own()
    {
        var client = new WalkingClient(new Instant());
        var step = new Step();
        long before = 0;
        for (int i = 0; i < 2_000; i++)
        {
            if (i == 1_000)
            {
                before = GC.GetAllocatedBytesForCurrentThread();
            }

            _ = client.WalkAsync(step);
        }

        // The first half compiles and warms.
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    [Fact]
    public void No_interceptor_is_null()
    {
        var peer = new ServicePeer(new FastPortClient(new FastPortClientOptions { Endpoint = "inproc://nobody" }));

        Assert.Throws<ArgumentNullException>(() => peer.Intercept(null!));
        Assert.Throws<ArgumentNullException>(() => peer.Intercept(new Retrying(1), null!));
    }

    private static async IAsyncEnumerable<Number> Numbers(params long[] values)
    {
        foreach (long value in values)
        {
            await Task.Yield();
            yield return new Number { Value = value };
        }
    }

    private sealed class Instant : IFastPortClient
    {
        private readonly Task<Place> _reply = Task.FromResult(new Place());

        public Task<TResult> RequestAsync<TBody, TResult>(
            ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
            where TBody : Framing.IFrameBody => (Task<TResult>)(object)_reply;
    }

    private sealed class Recording(ConcurrentQueue<string> seen, string name) : IClientInterceptor
    {
        public async Task<TReply> CallAsync<TRequest, TReply>(
            ClientCall<TRequest> call, Func<ClientCall<TRequest>, Task<TReply>> next)
        {
            seen.Enqueue($"{name} begins {call.Method}");
            TReply reply = await next(call);
            seen.Enqueue($"{name} ends");
            return reply;
        }
    }

    private sealed class Retrying(int attempts) : IClientInterceptor
    {
        public async Task<TReply> CallAsync<TRequest, TReply>(
            ClientCall<TRequest> call, Func<ClientCall<TRequest>, Task<TReply>> next)
        {
            for (int attempt = 1; ; attempt++)
            {
                try
                {
                    return await next(call);
                }
                catch (RequestFailedException e) when (e.Code == ErrorCode.Unavailable && attempt < attempts)
                {
                }
            }
        }
    }

    private sealed class Canceling(CancellationToken token) : IClientInterceptor
    {
        public Task<TReply> CallAsync<TRequest, TReply>(ClientCall<TRequest> call, Func<ClientCall<TRequest>, Task<TReply>> next) =>
            next(call with { CancellationToken = token });
    }

    private sealed class Capturing : IClientInterceptor
    {
        public (string Method, int Type, TimeSpan? Timeout, TimeSpan? Whole, CancellationToken Canceled) Call { get; private set; }

        public Task<TReply> CallAsync<TRequest, TReply>(ClientCall<TRequest> call, Func<ClientCall<TRequest>, Task<TReply>> next)
        {
            Call = (call.Method, call.Type, call.Timeout, call.WholeTimeout, call.CancellationToken);
            return next(call);
        }

        public IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
            ClientCall<TRequest> call, Func<ClientCall<TRequest>, IAsyncEnumerable<TReply>> next)
        {
            Call = (call.Method, call.Type, call.Timeout, call.WholeTimeout, call.CancellationToken);
            return next(call);
        }
    }

    private sealed class FailingService(int failures) : WalkingBase
    {
        private int _calls;

        public int Calls => Volatile.Read(ref _calls);

        public override Place Look(Step request, Session session) => Interlocked.Increment(ref _calls) <= failures
            ? throw new RequestRefusedException(ErrorCode.Unavailable, "The data source is not connected.")
            : new Place { East = request.East + 1 };
    }
}
