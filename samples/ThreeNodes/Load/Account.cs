using System.Collections.Concurrent;

namespace ThreeNodes.Load;

/// <summary>What was sent and what became of it. Thread-safe.</summary>
internal sealed class Account
{
    private readonly ConcurrentDictionary<long, int> _received = new();
    private readonly ConcurrentDictionary<string, long> _failures = new(StringComparer.Ordinal);
    private readonly ConcurrentBag<long> _confirmed = [];
    private long _requests;
    private long _answered;
    private long _relays;
    private long _retried;

    public long Requests => Interlocked.Read(ref _requests);

    public long Relays => Interlocked.Read(ref _relays);

    /// <summary>Whether all was answered and confirmed, and each relay was received exactly once.</summary>
    public bool IsExact =>
        _failures.IsEmpty && Requests == Interlocked.Read(ref _answered) && Relays == _confirmed.Count && Relays == ReceivedOnce
        && Relays == _received.Count;

    private int ReceivedOnce => _confirmed.Count(number => _received.GetValueOrDefault(number) == 1);

    public void RequestSent() => Interlocked.Increment(ref _requests);

    public void RequestAnswered() => Interlocked.Increment(ref _answered);

    /// <returns>The relay's number, which it carries.</returns>
    public long RelaySent() => Interlocked.Increment(ref _relays);

    public void RelayConfirmed(long number) => _confirmed.Add(number);

    public void RelayReceived(long number) => _received.AddOrUpdate(number, 1, static (_, times) => times + 1);

    /// <summary>A relay was refused before it was passed on; the same one is sent again.</summary>
    public void Retried() => Interlocked.Increment(ref _retried);

    public void Failed(string why) => _failures.AddOrUpdate(why, 1, static (_, times) => times + 1);

    public IEnumerable<string> Lines()
    {
        yield return $"requests: {Requests} sent, {Interlocked.Read(ref _answered)} answered";
        yield return $"relays: {Relays} sent, {_confirmed.Count} confirmed, {Interlocked.Read(ref _retried)} told to retry and sent again";
        yield return $"received: {ReceivedOnce} exactly once, {_received.Count(static one => one.Value > 1)} more than once, "
            + $"{_confirmed.Count(number => !_received.ContainsKey(number))} confirmed and missing";
        yield return $"failed: {_failures.Values.Sum()}";
        foreach ((string why, long times) in _failures)
        {
            yield return $"  {times} x {why}";
        }
    }
}
