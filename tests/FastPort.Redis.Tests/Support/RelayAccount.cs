using System.Buffers;
using System.Collections.Concurrent;
using System.Diagnostics;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>
/// Relays with a number each, sent all the time, and what became of every one. Targets note what they receive.
/// </summary>
internal sealed class RelayAccount : IAsyncDisposable
{
    private const ushort Type = 0x4242;

    private const string Confirmed = "ok";

    /// <summary>The lease of the nodes, and 3 s.</summary>
    private static readonly TimeSpan HealingTime = TimeSpan.FromSeconds(2 + 3);

    // What a machine that does other things at the same time may take, of what it should.
    private const int Slack = 2;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    private readonly ConcurrentDictionary<long, Answer> _answers = new();
    private readonly ConcurrentDictionary<(string Target, long Number), int> _received = new();
    private readonly ConcurrentDictionary<string, long> _delivered = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly List<Task> _senders = [];
    private long _next;
    private long? _faultEndedAt;

    /// <summary>The answers so far, by what they were: "ok", or the name of the error.</summary>
    public IReadOnlyDictionary<string, int> Answers =>
        _answers.Values.GroupBy(static one => one.What).ToDictionary(static one => one.Key, static one => one.Count());

    /// <summary>Relays to a target that were confirmed so far.</summary>
    public long DeliveredTo(string target) => _delivered.GetValueOrDefault(target);

    /// <summary>Prepares a client as a target. Each client has a name of its own here, also if it has the id of one before it.</summary>
    public Action<FastPortClient> Target(string name) => client => client.OnRelayed(
        Type,
        (scoped in message) => _received.AddOrUpdate(
            (name, BitConverter.ToInt64(message.Body.ToArray())), 1, static (_, count) => count + 1));

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

    /// <summary>Waits until relays to a target have been confirmed for so long: local traffic that goes on during a fault.</summary>
    public async Task DeliversForAsync(string target, TimeSpan time)
    {
        long begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun) < time)
        {
            await DeliversAsync(target);
        }
    }

    /// <summary>
    /// The fault is over, or was a kill: from now on all heals by itself, and <see cref="CloseAsync"/> checks within what time it has.
    /// </summary>
    public void FaultEnds() => _faultEndedAt = Stopwatch.GetTimestamp();

    /// <summary>
    /// Ends the senders, and checks that every relay was answered, every confirmed one received once by its target, and that all were
    /// confirmed again in time after the fault, if there was one (<see cref="FaultEnds"/>).
    /// </summary>
    /// <param name="mayMissLast">
    /// The target whose node was killed: of those sent before the kill, the last that were confirmed may be missing, as they were in the
    /// node's send queue or on the connection. Defaults to none.
    /// </param>
    public async Task CloseAsync(string? mayMissLast = null)
    {
        await _stop.CancelAsync();
        await Task.WhenAll(_senders).InTimeAsync();
        Assert.Equal(Volatile.Read(ref _next), _answers.Count);

        // Confirmed is what the target's node has queued: the target may still be reading.
        await Patience.UntilAsync(() => HasAllBut(mayMissLast), $"each confirmed relay was received; answers: {Text}");
        await Patience.UntilSteadyAsync(() => _received.Count, "nothing more is received");
        Assert.DoesNotContain(_received, static one => one.Value != 1);
        ILookup<long, string> receivers = _received.Keys.ToLookup(static one => one.Number, static one => one.Target);
        string all = Text;
        long lastSeen = _received.Keys.Where(one => one.Target == mayMissLast).Select(one => _answers[one.Number].SentAt)
            .DefaultIfEmpty(long.MinValue).Max();
        foreach ((long number, (string answer, string to, long sentAt, long at)) in _answers)
        {
            string[] targets = [.. receivers[number]];
            Assert.True(targets.Length <= 1, $"{number} was received by {string.Join(", ", targets)}");

            // A session's messages are in order: one sent after the answer to a missing one must be missing too.
            bool mayMiss = to == mayMissLast && sentAt < _faultEndedAt && at > lastSeen;
            Assert.True(answer != Confirmed || targets.Length == 1 || mayMiss,
                $"{number} was confirmed, but not received; answers: {all}");
            Assert.False(answer is nameof(ErrorCode.NotFound) or nameof(ErrorCode.Unavailable) && targets.Length != 0,
                $"{number} was refused with {answer}, but received");
        }

        if (_faultEndedAt is not { } end)
        {
            return;
        }

        TimeSpan healed = HealedAfter(end);
        TestContext.Current.TestOutputHelper?.WriteLine($"healed after {healed.TotalSeconds:0.00} s; answers: {all}");
        Assert.True(healed <= HealingTime * Slack, $"healed after {healed}; answers: {all}");
    }

    // Whether all that were confirmed have been received, but for those that may be missing.
    private bool HasAllBut(string? mayMissLast)
    {
        HashSet<long> received = [.. _received.Keys.Select(static one => one.Number)];
        return _answers.All(one => one.Value.What != Confirmed || received.Contains(one.Key)
            || (one.Value.Target == mayMissLast && one.Value.SentAt < _faultEndedAt));
    }

    // From the end of the fault until all relays of before are answered, none fails any more, and each target has received one.
    private TimeSpan HealedAfter(long end)
    {
        Answer[] all = [.. _answers.Values];
        IEnumerable<long> ends = all.Where(one => one.What != Confirmed || one.SentAt < end).Select(static one => one.At);
        IEnumerable<long> firsts = all.Where(one => one.What == Confirmed && one.SentAt >= end)
            .GroupBy(static one => one.Target).Select(static target => target.Min(static one => one.At));
        return Stopwatch.GetElapsedTime(end, ends.Concat(firsts).Append(end).Max());
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
            long sentAt = Stopwatch.GetTimestamp();
            try
            {
                await client.RelayAsync(target, Type, BitConverter.GetBytes(number));
                Note(Confirmed);
                _delivered.AddOrUpdate(target, 1, static (_, count) => count + 1);
            }
            catch (RequestFailedException e)
            {
                Note(e.Failure?.ToString() ?? e.Code.ToString());

                // Refusals come at once: a sender that goes on as fast as it can would be all that this machine does.
                await Task.Delay(Pause, CancellationToken.None);
            }

            void Note(string what) => _answers[number] = new Answer(what, target, sentAt, Stopwatch.GetTimestamp());
        }
    }

    private sealed record Answer(string What, string Target, long SentAt, long At);
}
