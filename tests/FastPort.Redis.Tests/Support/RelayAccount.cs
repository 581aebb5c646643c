using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Sessions;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>
/// Relays with a number each, sent all the time, and what became of every one. Targets note what they receive.
/// </summary>
internal sealed class RelayAccount : IAsyncDisposable
{
    private const uint Type = 0x4242;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    private readonly ConcurrentDictionary<long, string> _answers = new();
    private readonly ConcurrentDictionary<(string Target, long Number), int> _received = new();
    private readonly ConcurrentDictionary<string, long> _delivered = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly List<Task> _senders = [];
    private long _next;

    /// <summary>The answers so far, by what they were: "ok", or the name of the error.</summary>
    public IReadOnlyDictionary<string, int> Answers =>
        _answers.Values.GroupBy(static one => one).ToDictionary(static one => one.Key, static one => one.Count());

    /// <summary>Relays to a target that were confirmed so far.</summary>
    public long DeliveredTo(string target) => _delivered.GetValueOrDefault(target);

    /// <summary>Prepares a client as a target.</summary>
    public Action<FastPortClient> Target(string id) => client => client.OnRelayed(
        Type,
        (scoped in message) => _received.AddOrUpdate(
            (id, BitConverter.ToInt64(message.Body.ToArray())), 1, static (_, count) => count + 1));

    /// <summary>Begins to send to a target, so many at once.</summary>
    public void Send(FastPortClient client, string target, int inFlight)
    {
        for (int i = 0; i < inFlight; i++)
        {
            _senders.Add(SendAsync(client, target));
        }
    }

    /// <summary>Waits until so many more relays to a target are confirmed.</summary>
    public async Task DeliversAsync(string target, int more = 50)
    {
        long goal = DeliveredTo(target) + more;
        await Patience.UntilAsync(() => DeliveredTo(target) >= goal, $"{more} more relays to {target} are confirmed; answers: {Text}");
    }

    /// <summary>Ends the senders, and checks that every relay was answered and every confirmed one received once by its target.</summary>
    /// <param name="lostWithNode">
    /// Confirmed ones that may be missing, because they were in the send queue of a node that was killed. Defaults to none.
    /// </param>
    public async Task CloseAsync(int lostWithNode = 0)
    {
        await _stop.CancelAsync();
        await Task.WhenAll(_senders).InTimeAsync();
        Assert.Equal(Volatile.Read(ref _next), _answers.Count);

        // Confirmed is what the target's node has queued: the target may still be reading.
        await Patience.UntilSteadyAsync(() => _received.Count, "nothing more is received");
        Assert.DoesNotContain(_received, static one => one.Value != 1);
        ILookup<long, string> receivers = _received.Keys.ToLookup(static one => one.Number, static one => one.Target);
        string all = Text;
        foreach ((long number, string answer) in _answers)
        {
            string[] targets = [.. receivers[number]];
            Assert.True(targets.Length <= 1, $"{number} was received by {string.Join(", ", targets)}");
            Assert.True(answer != "ok" || targets.Length == 1 || lostWithNode-- > 0,
                $"{number} was confirmed, but not received; answers: {all}");
            Assert.False(answer is nameof(ErrorCode.NotFound) or nameof(ErrorCode.Unavailable) && targets.Length != 0,
                $"{number} was refused with {answer}, but received");
        }
    }

    public string Text => string.Join(", ", Answers.Select(static one => $"{one.Value} {one.Key}"));

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        _stop.Dispose();
    }

    private async Task SendAsync(FastPortClient client, string target)
    {
        while (!_stop.IsCancellationRequested)
        {
            long number = Interlocked.Increment(ref _next);
            try
            {
                await client.RelayAsync(target, Type, BitConverter.GetBytes(number));
                _answers[number] = "ok";
                _delivered.AddOrUpdate(target, 1, static (_, count) => count + 1);
            }
            catch (RequestFailedException e)
            {
                _answers[number] = e.Failure?.ToString() ?? e.Code.ToString();

                // Refusals come at once: a sender that goes on as fast as it can would be all that this machine does.
                await Task.Delay(Pause, CancellationToken.None);
            }
        }
    }
}
