using System.Collections.Frozen;
using FastPort.Redis.Wire;
using StackExchange.Redis;

namespace FastPort.Redis.Members;

/// <summary>
/// This node's lease and the list of all nodes. The lease is renewed three times in its length. This node counts it from before the
/// request, so that it ends here no later than at Redis. <see cref="_renewing"/> lets one renewal run at a time and guards the fields that
/// are marked as its own; all other members are safe from any thread.
/// </summary>
internal sealed class Membership : IAsyncDisposable
{
    private readonly IDatabase _redis;
    private readonly TimeSpan _lease;
    private readonly TimeProvider _time;
    private readonly RedisKey[] _keys;
    private readonly SemaphoreSlim _renewing = new(1, 1);
    private readonly SemaphoreSlim _renewNow = new(0);
    private readonly CancellationTokenSource _stop = new();
    private FrozenDictionary<ulong, Member> _members = FrozenDictionary<ulong, Member>.Empty;
    private string _version = string.Empty;

    // The end of the lease; written under the gate, because a renewal that was requested before a connection was lost proves nothing.
    private readonly Lock _leaseGate = new();
    private long _validUntil;
    private long _connectionLostAt = long.MinValue;
    private long _claimsFrom;
    private Task _running = Task.CompletedTask;
    private Task _claimingAgain = Task.CompletedTask;

    // Guarded by _renewing: the number of the last renewal that has begun, which others also read, and of the last one that was answered.
    private long _begun;
    private long _answered;

    // When the last renewal was requested, from which a lease counts.
    private long _askedAt;

    public Membership(IDatabase redis, string prefix, string name, TimeSpan lease, TimeProvider time)
    {
        _redis = redis;
        _lease = lease;
        _time = time;
        _keys = [$"{{{prefix}:nodes}}", $"{{{prefix}:nodes}}:version"];
        Self = new Member(name, (ulong)Random.Shared.NextInt64(1, long.MaxValue), BatchBuffer.Version);
        _validUntil = time.GetTimestamp();
    }

    /// <summary>This node.</summary>
    public Member Self { get; }

    /// <summary>
    /// Whether this node has its lease and, after a lease that ended, has claimed its ids again. Without it, its ids may belong to others.
    /// </summary>
    public bool IsValid => HasLease && Volatile.Read(ref _claimingAgain).IsCompletedSuccessfully;

    /// <summary>Whether this node has its lease. Features without ids, such as topics, need no more.</summary>
    public bool HasLease => _time.GetTimestamp() < Volatile.Read(ref _validUntil);

    /// <summary>How long a lease is.</summary>
    public TimeSpan Lease => _lease;

    /// <summary>What is left of the lease; zero without one.</summary>
    public TimeSpan LeaseLeft
    {
        get
        {
            long left = Volatile.Read(ref _validUntil) - _time.GetTimestamp();
            return left > 0 ? _time.GetElapsedTime(0, left) : TimeSpan.Zero;
        }
    }

    /// <summary>
    /// Whether new ids may be claimed. After Redis had lost this node, others may not have reclaimed their ids yet, so this node waits for
    /// as long as they need to notice.
    /// </summary>
    public bool MayClaim => IsValid && _time.GetTimestamp() >= Volatile.Read(ref _claimsFrom);

    /// <summary>The nodes that have leases, this one included, by their instances.</summary>
    public FrozenDictionary<ulong, Member> Members => Volatile.Read(ref _members);

    /// <summary>A renewal has failed, the first of several; null if one has succeeded after that. On the pool.</summary>
    public event Action<Exception?>? Renewed;

    /// <summary>
    /// Claims the ids of this node again, after its lease had ended and has begun again. Called again if it has failed. Set before
    /// <see cref="JoinAsync"/>.
    /// </summary>
    public required Func<Task> ClaimAgain { get; init; }

    /// <summary>A node has joined. On the pool, like the next one.</summary>
    public event Action<Member>? Joined;

    /// <summary>A node's lease has ended.</summary>
    public event Action<Member>? Left;

    /// <summary>Takes the lease. If a node that was killed has the name, waits until its lease has ended.</summary>
    /// <exception cref="BackplaneException">Another node has the name.</exception>
    public async Task JoinAsync(CancellationToken cancellationToken)
    {
        long givesUp = _time.GetTimestamp() + Ticks(_lease * 1.2);
        while (await RenewOnceAsync(Self.Name + " ").ConfigureAwait(false) is { } other)
        {
            if (_time.GetTimestamp() > givesUp)
            {
                throw new BackplaneException(
                    $"The node name '{Self.Name}' belongs to a running node (instance {Member.Format(other.Instance)}); "
                    + "set FastPort:Backplane:Node to another name.");
            }

            await Task.Delay(_lease / 10, _time, cancellationToken).ConfigureAwait(false);
        }

        _running = NoContext.Start(RunAsync);
    }

    /// <summary>
    /// A connection to Redis was lost: nothing is known until the next renewal, because Redis may have restarted without its data. Renews
    /// at once, because it may have been a connection that this node does not depend on.
    /// </summary>
    public void ConnectionLost()
    {
        lock (_leaseGate)
        {
            _connectionLostAt = _time.GetTimestamp();
            Volatile.Write(ref _validUntil, _connectionLostAt);
        }

        _renewNow.Release();
    }

    /// <summary>A connection to Redis has recovered: renews at once.</summary>
    public void ConnectionRestored() => _renewNow.Release();

    /// <summary>Whether a node has its lease: looked up at Redis if this node does not know it.</summary>
    public async ValueTask<bool> IsAliveAsync(ulong instance)
    {
        if (Members.ContainsKey(instance))
        {
            return true;
        }

        // One renewal answers all requests made before it began: a dead node's ids are looked up by many at once.
        await RenewOnceAsync(string.Empty, unlessAnswered: Volatile.Read(ref _begun) + 1).ConfigureAwait(false);
        return Members.ContainsKey(instance);
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        Volatile.Write(ref _validUntil, _time.GetTimestamp());
        try
        {
            await _redis.ScriptEvaluateAsync(MembershipScripts.Leave, _keys, [Self.ToString()]).ConfigureAwait(false);
        }
        catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException)
        {
            // The lease ends by itself.
        }

        _stop.Dispose();
        _renewing.Dispose();
        _renewNow.Dispose();
    }

    private async Task RunAsync()
    {
        bool failed = false;
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                TimeSpan left = (_lease / 3) - _time.GetElapsedTime(Volatile.Read(ref _askedAt));
                await _renewNow.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _stop.Token).ConfigureAwait(false);
                await RenewOnceAsync(string.Empty).ConfigureAwait(false);
                if (failed)
                {
                    failed = false;
                    Renewed?.Invoke(null);
                }
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
            {
                if (!failed)
                {
                    failed = true;
                    Renewed?.Invoke(e);
                }
            }
        }
    }

    // Returns the node that has the name; null if the lease was taken or renewed, or the renewal with this number was answered already.
    private async Task<Member?> RenewOnceAsync(string uniqueName, long unlessAnswered = long.MaxValue)
    {
        await _renewing.WaitAsync(_stop.Token).ConfigureAwait(false);
        try
        {
            if (_answered >= unlessAnswered)
            {
                return null;
            }

            long asked = _time.GetTimestamp();
            Volatile.Write(ref _askedAt, asked);
            bool wasUnanswered = _answered != _begun;
            Volatile.Write(ref _begun, _begun + 1);
            var answer = (RedisResult[])(await _redis.ScriptEvaluateAsync(
                MembershipScripts.Renew,
                _keys,
                [Self.ToString(), (long)_lease.TotalMilliseconds, _version, uniqueName]).ConfigureAwait(false))!;
            _answered = _begun;
            int result = (int)answer[0];
            if (result < 0)
            {
                return Member.Parse((string)answer[1]!);
            }

            // A recovered network may deliver an old renewal first, whose answer is no longer awaited. The lease may have ended before this
            // renewal and begun again with it, and continues only since then.
            if (uniqueName.Length == 0 && (result == 0 || HasFailed(_claimingAgain) || (wasUnanswered && !HasLease)))
            {
                Volatile.Write(ref _claimsFrom, asked + Ticks(_lease / 2));
                Volatile.Write(ref _claimingAgain, ClaimAgainAfterAsync(_claimingAgain));
            }

            lock (_leaseGate)
            {
                if (asked > _connectionLostAt)
                {
                    Volatile.Write(ref _validUntil, asked + Ticks(_lease));
                }
            }

            string version = (string)answer[1]!;
            if (version != _version)
            {
                _version = version;
                Update([.. answer.Skip(2).Select(static one => Member.Parse((string)one!)).OfType<Member>()]);
            }

            return null;
        }
        finally
        {
            _renewing.Release();
        }
    }

    private static bool HasFailed(Task task) => task is { IsCompleted: true, IsCompletedSuccessfully: false };

    private async Task ClaimAgainAfterAsync(Task before)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        await ClaimAgain().ConfigureAwait(false);
    }

    private void Update(Member[] members)
    {
        FrozenDictionary<ulong, Member> before = Members;
        Volatile.Write(ref _members, members.ToFrozenDictionary(static one => one.Instance));
        foreach (Member left in before.Values.Where(one => !Members.ContainsKey(one.Instance)))
        {
            Left?.Invoke(left);
        }

        foreach (Member joined in Members.Values.Where(one => !before.ContainsKey(one.Instance) && one.Instance != Self.Instance))
        {
            Joined?.Invoke(joined);
        }
    }

    private long Ticks(TimeSpan time) => (long)(time.TotalSeconds * _time.TimestampFrequency);
}
