using FastPort.Protocol;
using FastPort.Testing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Walking;
using Xunit;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>The snippets of docs/service-calls.md.</summary>
public sealed class ServiceCallSnippets
{
    [Fact]
    public async Task A_registered_interceptor_refuses_calls()
    {
        await using TestServer test = await TestServer.StartAsync(static builder =>
        {
            // docs: register
            builder.AddServerInterceptor<Faults>()
                .AddServerInterceptor<KnownPlayers>()
                .MapService<MoveService>(ServiceLifetime.Singleton);
            // docs: end
        });

        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(
            () => new MoveClient(test.Client).WalkAsync(new Step { North = 1 }));

        Assert.Equal(ErrorCode.Forbidden, refused.Code);
    }

    [Fact]
    public async Task A_failed_call_is_made_again()
    {
        var service = new Unsteady();
        await using TestServer test = await TestServer.StartAsync(
            builder => builder.Map(handlers => handlers.MapService(service)));
        FastPortClient client = test.Client;

        // docs: intercept
        var move = new MoveClient(new ServicePeer(client).Intercept(new Retries(attempts: 3)));
        // docs: end

        await move.LookAsync(new LookRequest());
        Assert.Equal(2, service.Calls);
    }

    [Fact]
    public async Task A_refusal_carries_the_step_that_is_possible()
    {
        await using TestServer test = await TestServer.StartAsync(
            static builder => builder.Map(static handlers => handlers.MapService(new StrictMoves())));
        var move = new MoveClient(test.Client);

        Assert.Equal(1, (await WalkAsFarAsPossibleAsync(move, new Step { East = 5 })).East);
    }

    // docs: read-detail
    private static async Task<Position> WalkAsFarAsPossibleAsync(IMoveClient move, Step step)
    {
        try
        {
            return await move.WalkAsync(step);
        }
        catch (RequestFailedException e) when (e.TryGetDetail(out Step? possible))
        {
            return await move.WalkAsync(possible);
        }
    }
    // docs: end

    private sealed class StrictMoves : MoveBase
    {
        // docs: detail
        public override ValueTask<Position> WalkAsync(Step request, RequestContext context)
        {
            if (request.East > 1)
            {
                throw new RequestRefusedException(ErrorCode.Forbidden, "A step is at most 1 long.").WithDetail(new Step { East = 1 });
            }

            return ValueTask.FromResult(new Position { East = request.East });
        }
        // docs: end
    }

    private sealed class Unsteady : MoveBase
    {
        public int Calls { get; private set; }

        public override Position Look(LookRequest request, Session session) => ++Calls == 1
            ? throw new RequestRefusedException(ErrorCode.Unavailable, "The map is being loaded.")
            : new Position();
    }
}

// docs: server-interceptor
public sealed class KnownPlayers : IServerInterceptor
{
    public ValueTask<TReply> CallAsync<TRequest, TReply>(
        ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
    {
        Demand(call.Session, call.Method);
        return next(call);
    }

    public IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
        ServerCall<TRequest> call, Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> next)
    {
        Demand(call.Session, call.Method);
        return next(call);
    }

    private static void Demand(Session session, string method)
    {
        if (session.RoutingId.Length == 0)
        {
            throw new RequestRefusedException(ErrorCode.Forbidden, $"{method} is for players with a name.");
        }
    }
}
// docs: end

// docs: faults
public sealed class Faults(ILogger<Faults> logger) : IServerInterceptor
{
    public async ValueTask<TReply> CallAsync<TRequest, TReply>(
        ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next)
    {
        try
        {
            return await next(call);
        }
        catch (IOException e)
        {
            logger.LogWarning(e, "{Method} has no storage", call.Method);
            throw new RequestRefusedException(ErrorCode.Unavailable, "The storage is not available; try again later.");
        }
    }

    public IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
        ServerCall<TRequest> call, Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> next) => next(call);
}
// docs: end

// docs: client-interceptor
public sealed class Retries(int attempts) : IClientInterceptor
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
                await Task.Delay(TimeSpan.FromMilliseconds(20 * attempt), call.CancellationToken);
            }
        }
    }
}
// docs: end
