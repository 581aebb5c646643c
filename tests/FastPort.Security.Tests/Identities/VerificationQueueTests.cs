using System.Collections.Concurrent;
using System.Net;
using FastPort.Security.Identities;
using Xunit;

namespace FastPort.Security.Tests.Identities;

public sealed class VerificationQueueTests
{
    private static readonly IPEndPoint Guesser = new(IPAddress.Parse("203.0.113.7"), 1);
    private static readonly IPEndPoint Other = new(IPAddress.Parse("203.0.113.8"), 1);

    private readonly VerificationQueue _queue = new(places: 1);
    private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ConcurrentQueue<string> _order = new();

    [Fact]
    public async Task Addresses_take_turns()
    {
        Task held = HoldAsync();
        List<Task> guesses = [.. Enumerable.Range(0, 100).Select(i => RunAsync(new IPEndPoint(Guesser.Address, i), "guess"))];
        Task unknown = RunAsync(null, "unknown");
        Task other = RunAsync(Other, "other");

        _held.SetResult();
        await Task.WhenAll([held, unknown, other, .. guesses]).InTimeAsync();

        Assert.Equal(["guess", "unknown", "other", "guess"], _order.Take(4));
        Assert.Equal(102, _order.Count);
    }

    [Fact]
    public async Task Who_has_gone_is_passed_over_and_takes_no_place()
    {
        using var gone = new CancellationTokenSource();
        Task held = HoldAsync();
        List<Task> left = [.. Enumerable.Range(0, 10).Select(_ => RunAsync(Guesser, "gone", gone.Token))];
        Task other = RunAsync(Other, "other");

        await gone.CancelAsync();
        foreach (Task one in left)
        {
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => one.InTimeAsync());
        }

        _held.SetResult();
        await Task.WhenAll(held, other).InTimeAsync();
        await RunAsync(Guesser, "later").InTimeAsync();

        Assert.Equal(["other", "later"], _order);
    }

    [Fact]
    public async Task A_verification_that_throws_gives_its_place_back()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => _queue.RunAsync<int>(Guesser, static () => throw new InvalidOperationException(), CancellationToken.None));

        await RunAsync(Other, "other").InTimeAsync();
    }

    // Takes the only place until the test lets go.
    private Task HoldAsync() => _queue.RunAsync(
        Guesser,
        async () =>
        {
            await _held.Task;
            return 0;
        },
        CancellationToken.None);

    private Task RunAsync(EndPoint? peer, string name, CancellationToken cancellationToken = default) => _queue.RunAsync(
        peer,
        () =>
        {
            _order.Enqueue(name);
            return Task.FromResult(0);
        },
        cancellationToken);
}
