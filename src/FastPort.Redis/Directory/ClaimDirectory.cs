using System.Collections.Concurrent;
using System.Text;
using FastPort.Redis.Members;
using FastPort.Routing;
using FastPort.Sessions;
using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis.Directory;

/// <summary>
/// Which node has a routing id: a key of Redis for each. A claim of this node is in force while the node has its lease, so keys need no
/// lease of their own; they only live for a limited time after their node's death, and are set again, some each second, before it is over.
/// <see cref="_gate"/> guards the claims' states and the changes of the tables; lookups of own ids take no lock.
/// </summary>
internal sealed class ClaimDirectory(IDatabase redis, string prefix, Membership members, ILogger logger)
    : IRoutingIdClaims, IAsyncDisposable
{
    // How long the keys of a node that was killed stay in Redis.
    private static readonly TimeSpan KeyLife = TimeSpan.FromMinutes(10);

    private static readonly TimeSpan KeepEvery = TimeSpan.FromSeconds(1);

    // A claim may have to wait for the next round, and a turn takes as long as Redis does: two rounds are two thirds of a key's life.
    private static readonly int KeepsOfRound = (int)(KeyLife / 3 / KeepEvery);

    private const int MaxAttempts = 8;
    private const int KeptAtOnce = 256;

    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<RoutingIdClaim, OwnClaim> _claims = new();
    private readonly ConcurrentDictionary<byte[], OwnClaim> _own = new(Utf8Comparer.Instance);

    // Ids that are being claimed, whose answers may be overtaken by what other nodes say about them. Under the lock.
    private readonly Dictionary<byte[], Asking> _asking = new(Utf8Comparer.Instance);
    private readonly SemaphoreSlim _keepNow = new(0);
    private readonly CancellationTokenSource _stop = new();
    private Task _keeping = Task.CompletedTask;

    /// <summary>Number of ids of this node.</summary>
    public int Count => _own.Count;

    /// <summary>Asks the owner of an id whether it still has it; null without an answer.</summary>
    public required Func<Location, byte[], ValueTask<bool?>> ChallengeAsync { get; init; }

    /// <summary>Tells the former owner of an id that it was taken over.</summary>
    public required Action<Location, byte[]> TellTakenOver { get; init; }

    /// <summary>Begins to keep the keys of the claims.</summary>
    public void Start() => _keeping = KeepAsync();

    /// <summary>
    /// A connection to Redis was lost. A server of a cluster may come back without its ids, and a replica may not have had the last of
    /// them, while the leases go on: the keys are set again as soon as Redis takes them.
    /// </summary>
    public void KeepNow() => _keepNow.Release();

    /// <summary>Runs a script on a key of an id that nobody can have, which changes nothing.</summary>
    public Task ProbeAsync() => redis.ScriptEvaluateAsync(DirectoryScripts.Release, [Key([])], [string.Empty]);

    /// <summary>This node's claim of an id; null if it has none.</summary>
    public OwnClaim? Find(ReadOnlySpan<byte> id) =>
        _own.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(id, out OwnClaim? own) ? own : null;

    public async ValueTask<RoutingIdGrant> ClaimAsync(RoutingIdClaim claim, CancellationToken cancellationToken)
    {
        var own = new OwnClaim(claim, Encoding.UTF8.GetBytes(claim.RoutingId));
        _claims[claim] = own;
        if (!members.MayClaim)
        {
            return RoutingIdGrant.Unavailable;
        }

        lock (_gate)
        {
            if (!_asking.TryGetValue(own.Id, out Asking? asking))
            {
                _asking[own.Id] = asking = new Asking();
            }

            asking.Count++;
        }

        try
        {
            return await ClaimAsync(own).ConfigureAwait(false);
        }
        catch (Exception e) when (e is RedisException or TimeoutException)
        {
            BackplaneLog.ClaimFailed(logger, claim.RoutingId, e.Message);
            return RoutingIdGrant.Unavailable;
        }
        finally
        {
            lock (_gate)
            {
                if (--_asking[own.Id].Count == 0)
                {
                    _asking.Remove(own.Id);
                }
            }
        }
    }

    /// <summary>Whether a session of this node has the id by a claim with this token, and keeps it.</summary>
    public bool Keeps(ReadOnlySpan<byte> id, long token)
    {
        lock (_gate)
        {
            // A claim whose answer is still due may be the one with the token.
            return Find(id) is { } own && own.Token == token
                ? !own.Claim.IsEnding
                : _asking.GetAlternateLookup<ReadOnlySpan<byte>>().ContainsKey(id);
        }
    }

    public void Release(RoutingIdClaim claim)
    {
        if (!_claims.TryRemove(claim, out OwnClaim? own))
        {
            return;
        }

        lock (_gate)
        {
            own.IsReleased = true;
            if (own.Token == 0)
            {
                return;
            }

            _own.TryRemove(KeyValuePair.Create(own.Id, own));
        }

        Free(own);
    }

    /// <summary>The node's session has lost its id to another node, if the token is still that of its claim.</summary>
    public void Lose(ReadOnlySpan<byte> id, long token)
    {
        OwnClaim? own;
        lock (_gate)
        {
            own = Find(id);
            if (own?.Token != token)
            {
                own = null;
                if (_asking.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(id, out Asking? asking))
                {
                    asking.LostToken = token;
                }
            }
        }

        if (own is not null)
        {
            Lose(own);
        }
    }

    /// <summary>Sets the keys of all claims again; sessions whose ids belong to others by now are closed.</summary>
    /// <returns>Number of these sessions.</returns>
    public Task<int> ClaimAgainAsync() => KeepAsync(_own.Select(static one => one.Value));

    /// <summary>Where an id is; null if no node has it.</summary>
    public async Task<Location?> LookUpAsync(byte[] id)
    {
        RedisValue value = await redis.StringGetAsync(Key(id)).ConfigureAwait(false);
        return Location.TryParse(value, out Location location) && await members.IsAliveAsync(location.Instance).ConfigureAwait(false)
            ? location
            : null;
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _keeping.ConfigureAwait(false);
        _stop.Dispose();
        _keepNow.Dispose();
    }

    private async Task<RoutingIdGrant> ClaimAsync(OwnClaim own)
    {
        string outdated = string.Empty;
        Location? takenFrom = null;
        for (int attempt = 0; attempt < MaxAttempts; attempt++)
        {
            var answer = (RedisResult[])(await redis.ScriptEvaluateAsync(
                DirectoryScripts.Claim,
                [Key(own.Id)],
                [Member.Format(members.Self.Instance), outdated, (long)KeyLife.TotalMilliseconds]).ConfigureAwait(false))!;
            string value = (string)answer[1]!;
            if (!Location.TryParse(value, out Location location))
            {
                throw new RedisException($"The key of routing id '{own.Claim.RoutingId}' has the foreign value '{value}'; remove the key.");
            }

            if ((int)answer[0] == 1)
            {
                return Granted(own, location.Token, takenFrom);
            }

            takenFrom = null;
            if (await members.IsAliveAsync(location.Instance).ConfigureAwait(false))
            {
                if (own.Claim.TakesOver)
                {
                    takenFrom = location;
                }
                else if (await ChallengeAsync(location, own.Id).ConfigureAwait(false) is not false and var keeps)
                {
                    return keeps == true ? RoutingIdGrant.Taken : RoutingIdGrant.Unavailable;
                }
            }

            outdated = value;
        }

        // Others claim the same id faster than this node.
        return RoutingIdGrant.Unavailable;
    }

    private RoutingIdGrant Granted(OwnClaim own, long token, Location? takenFrom)
    {
        lock (_gate)
        {
            if (_asking[own.Id].LostToken == token)
            {
                return RoutingIdGrant.Taken;
            }

            own.Token = token;
            if (!own.IsReleased)
            {
                // Replies of claims for the same id may be handled in another order than Redis ran them.
                OwnClaim newest = _own.GetOrAdd(own.Id, own);
                if (newest.Token < token)
                {
                    _own[own.Id] = own;
                }
            }
        }

        if (own.IsReleased)
        {
            Free(own);
        }

        if (takenFrom is { } former)
        {
            TellTakenOver(former, own.Id);
        }

        return RoutingIdGrant.Granted;
    }

    private void Lose(OwnClaim own)
    {
        lock (_gate)
        {
            _own.TryRemove(KeyValuePair.Create(own.Id, own));
        }

        own.Claim.Lose($"A session of another node took over the routing id '{own.Claim.RoutingId}'.");
    }

    // By an event loop, which must not wait for others that are sending.
    private void Free(OwnClaim own) =>
        _ = redis.ScriptEvaluateAsync(DirectoryScripts.Release, [Key(own.Id)], [Value(own)], CommandFlags.FireAndForget);

    private async Task<bool> KeepAsync(OwnClaim own) =>
        own.IsReleased || (int)await redis.ScriptEvaluateAsync(
            DirectoryScripts.Keep, [Key(own.Id)], [Value(own), (long)KeyLife.TotalMilliseconds]).ConfigureAwait(false) == 1;

    private async Task<int> KeepAsync(IEnumerable<OwnClaim> claims)
    {
        int lost = 0;

        // Not the table's Values: to copy them it would hold up claims and releases, and with them event loops.
        foreach (OwnClaim[] some in claims.Chunk(KeptAtOnce))
        {
            bool[] kept = await Task.WhenAll(some.Select(KeepAsync)).ConfigureAwait(false);
            for (int i = 0; i < some.Length; i++)
            {
                if (!kept[i])
                {
                    lost++;
                    Lose(some[i]);
                }
            }
        }

        return lost;
    }

    // Sets the keys again: some of them each second, as all at once would hold up relays, and all after a lost connection.
    private async Task KeepAsync()
    {
        var walk = new ClaimWalk(_own, KeepsOfRound);
        bool all = false;
        while (true)
        {
            try
            {
                all |= await _keepNow.WaitAsync(KeepEvery, _stop.Token).ConfigureAwait(false);
                while (_keepNow.Wait(0, CancellationToken.None))
                {
                    // Once for all connections that were lost.
                }

                if (members.IsValid)
                {
                    await (all ? ClaimAgainAsync() : KeepAsync(walk.NextTurn())).ConfigureAwait(false);
                    all = false;
                }
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (Exception e) when (e is RedisException or TimeoutException)
            {
                // Which of them were set is not known.
                all = true;
            }
        }
    }

    private sealed class Asking
    {
        public int Count { get; set; }

        /// <summary>The token of a claim that another node has taken over already.</summary>
        public long LostToken { get; set; }
    }

    private string Value(OwnClaim own) => new Location(members.Self.Instance, own.Token).ToString();

    private RedisKey Key(byte[] id) => ((RedisKey)$"{prefix}:id:").Append(id);
}
