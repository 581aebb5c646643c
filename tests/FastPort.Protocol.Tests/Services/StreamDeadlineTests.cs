using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>The time limit of a call that streams travels with the request that opens it.</summary>
public sealed class StreamDeadlineTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(7);

    [Fact]
    public async Task The_limit_of_the_whole_call_reaches_its_handler()
    {
        await using Loopback loop = await StartAsync();
        var client = new CountingClient(loop.Client);

        Assert.InRange((await FirstAsync(client.CountAsync(new Number(), wholeTimeout: Limit))).Value, 1, Limit.Ticks);
        Assert.InRange((await FirstAsync(client.TotalAsync(None(), wholeTimeout: Limit))).Value, 1, Limit.Ticks);
        Assert.InRange((await client.SumAsync(None(), Limit)).Value, 1, Limit.Ticks);
    }

    [Fact]
    public async Task The_time_to_the_first_item_is_not_the_handlers()
    {
        await using Loopback loop = await StartAsync();
        var client = new CountingClient(loop.Client);

        Assert.Equal(-1, (await FirstAsync(client.CountAsync(new Number(), Limit))).Value);
        Assert.Equal(-1, (await FirstAsync(client.TotalAsync(None(), Limit))).Value);
        Assert.Equal(-1, (await client.SumAsync(None(), TimeSpan.Zero)).Value);
    }

    [Fact]
    public async Task Calls_that_a_streams_handler_makes_have_at_most_its_time()
    {
        await using Loopback behind = await StartAsync();
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new Forwarding(behind.Client)));
        var client = new CountingClient(loop.Client);

        Assert.InRange((await FirstAsync(client.CountAsync(new Number(), wholeTimeout: TimeSpan.FromSeconds(20)))).Value, 1, 200_000_000);
        Assert.InRange((await client.SumAsync(None(), TimeSpan.FromSeconds(20))).Value, 1, 200_000_000);
        Assert.Equal(-1, (await FirstAsync(client.CountAsync(new Number()))).Value);
    }

    private static Task<Loopback> StartAsync() => Loopback.StartAsync(new MessageHandlers().MapService(new TimeLeftService()));

    private static async Task<Number> FirstAsync(IAsyncEnumerable<Number> numbers) => await numbers.FirstAsync();

    private static async IAsyncEnumerable<Number> None()
    {
        await Task.CompletedTask;
        yield break;
    }

    private static Number TimeLeft(StreamContext context) => new() { Value = context.TimeLeft?.Ticks ?? -1 };

    /// <summary>Answers with the time left.</summary>
    private sealed class TimeLeftService : CountingBase
    {
        public override async IAsyncEnumerable<Number> CountAsync(
            Number request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
        {
            await Task.CompletedTask;
            yield return TimeLeft(context);
        }

        public override ValueTask<Number> SumAsync(
            IAsyncEnumerable<Number> requests, StreamContext context, CancellationToken cancellationToken) =>
            ValueTask.FromResult(TimeLeft(context));

        public override IAsyncEnumerable<Number> TotalAsync(
            IAsyncEnumerable<Number> requests, StreamContext context, CancellationToken cancellationToken) =>
            CountAsync(new Number(), context, cancellationToken);
    }

    /// <summary>Answers with the time left of a call to another server.</summary>
    private sealed class Forwarding(FastPortClient behind) : CountingBase
    {
        private readonly CountingClient _behind = new(behind);

        public override IAsyncEnumerable<Number> CountAsync(
            Number request, StreamContext context, CancellationToken cancellationToken) =>
            _behind.CountAsync(request, cancellationToken: cancellationToken);

        public override async ValueTask<Number> SumAsync(
            IAsyncEnumerable<Number> requests, StreamContext context, CancellationToken cancellationToken) =>
            await _behind.SumAsync(None(), cancellationToken: cancellationToken);
    }
}
