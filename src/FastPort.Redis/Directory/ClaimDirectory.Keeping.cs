using System.Runtime.ExceptionServices;
using System.Text;
using FastPort.Sessions;
using StackExchange.Redis;

namespace FastPort.Redis.Directory;

/// <content>Sets the keys of this node's ids again, and finds the ids that other nodes have taken.</content>
internal sealed partial class ClaimDirectory
{
    private static readonly TimeSpan LongestTurn = TimeSpan.FromSeconds(1);

    private const int KeptAtOnce = 256;

    // Ids whose keys could not be set.
    private const int RetriedPerSecond = 4 * KeptAtOnce;

    private readonly SemaphoreSlim _keepNow = new(0);
    private Task _keeping = Task.CompletedTask;

    // Whether there are keys that could not be set: the first of several is logged.
    private bool _isFailing;

    /// <summary>Begins to keep the keys of the claims.</summary>
    public void Start() => _keeping = NoContext.Start(RunAsync);

    /// <summary>
    /// Sets all keys again as soon as Redis accepts them; returns at once. Needed after a lost connection: a server of a cluster may come
    /// back without its ids, and a replica may lack the latest of them, while the leases continue.
    /// </summary>
    public void KeepNow() => _keepNow.Release();

    /// <summary>Another node has, or may have, taken over the id, which had this token.</summary>
    public void TakenOver(ReadOnlySpan<byte> id, long token)
    {
        OwnId? own;
        lock (_gate)
        {
            own = Find(id);
            if (own is null || own.Token > token)
            {
                // This node has claimed it again since.
                return;
            }

            own.MayBeTakenOver |= own.Asked != 0;
        }

        // Fire and forget: it handles every failure.
        _ = CheckAsync(own);
    }

    /// <summary>
    /// Sets the keys of all claims again; sessions whose ids now belong to others are closed. Throws if a key could not be set, after all
    /// others were: until that has succeeded, it is unknown whether the id is still this node's.
    /// </summary>
    /// <returns>Number of ids that are lost.</returns>
    public async Task<int> ClaimAgainAsync()
    {
        KeptIds kept = await KeepAllAsync(All()).ConfigureAwait(false);
        if (kept.Failure is { } failure)
        {
            ExceptionDispatchInfo.Throw(failure);
        }

        return kept.Lost;
    }

    // Not the table's Values: copying them would block claims and releases, and with them event loops.
    private IEnumerable<OwnId> All() => _own.Select(static one => one.Value);

    // Sets the key again, unless it now has another owner: then the sessions are closed, and the result is false.
    private async Task<bool> KeepAsync(OwnId own)
    {
        long token = own.Token;
        if (token == 0 || own.IsGone)
        {
            lock (_gate)
            {
                // A claim whose answer is handled after this pass is checked then: Redis may have lost it, like earlier ones.
                own.MayBeTakenOver |= own.Asked != 0;
            }

            return true;
        }

        string value = (string)(await redis.ScriptEvaluateAsync(
            DirectoryScripts.Keep, [Key(own.Utf8)], [Value(token), (long)KeyLife.TotalMilliseconds]).ConfigureAwait(false))!;
        _ = Location.TryParse(value, out Location location);
        bool isOwn = location.Instance == members.Self.Instance;
        RoutingIdClaim[] lost;
        bool isGone;
        lock (_gate)
        {
            if (own.Token != token)
            {
                // A claim was granted or lost in the meantime: the answer is about an older state.
                return true;
            }

            isGone = own.IsGone;
            if (isOwn && !isGone)
            {
                // Another token is that of a later claim of this node, whose answer was lost or is due.
                own.Token = location.Token;
                return true;
            }

            lost = [.. own.Granted];
            if (!isGone)
            {
                // A claim whose answer is due may have been granted before that.
                own.MayBeTakenOver |= own.Asked != 0;
                own.Granted.Clear();
                own.Token = 0;
                RemoveIfUnused(own);
            }
        }

        if (isGone)
        {
            // Given up in the meantime, possibly before the key was set.
            await FreeAsync(own).ConfigureAwait(false);
            return true;
        }

        string reason = $"A session of another node took over the routing id '{Encoding.UTF8.GetString(own.Utf8)}'.";
        foreach (RoutingIdClaim claim in lost)
        {
            claim.Lose(reason);
        }

        return false;
    }

    // An id whose key cannot be set, because its server of a cluster is gone or refuses writes, does not prevent the others from being set.
    private async Task<KeptIds> KeepAllAsync(IEnumerable<OwnId> ids)
    {
        int lost = 0;
        HashSet<OwnId> failed = [];
        Exception? failure = null;
        foreach (OwnId[] some in ids.Chunk(KeptAtOnce))
        {
            if (_stop.IsCancellationRequested)
            {
                throw new OperationCanceledException();
            }

            (bool IsKept, Exception? Failure)[] answers = await Task.WhenAll(some.Select(TryKeepAsync)).ConfigureAwait(false);
            for (int i = 0; i < some.Length; i++)
            {
                if (answers[i].Failure is { } one)
                {
                    failed.Add(some[i]);
                    failure ??= one;
                }
                else if (!answers[i].IsKept)
                {
                    lost++;
                }
            }
        }

        if (failure is not null && !Interlocked.Exchange(ref _isFailing, true))
        {
            BackplaneLog.KeepFailed(logger, failure);
        }

        return new KeptIds(lost, failed, failure);
    }

    private async Task<(bool IsKept, Exception? Failure)> TryKeepAsync(OwnId own)
    {
        try
        {
            return (await KeepAsync(own).ConfigureAwait(false), null);
        }
        catch (Exception e)
        {
            return (false, e);
        }
    }

    private async Task CheckAsync(OwnId own)
    {
        try
        {
            if (members.IsValid)
            {
                await KeepAsync(own).ConfigureAwait(false);
                return;
            }
        }
        catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException)
        {
            // As without a lease: checked with all others.
        }

        if (!_stop.IsCancellationRequested)
        {
            KeepNow();
        }
    }

    // In each turn: checks some keys, so that all are checked within a lease unless there are too many; sets some keys again (all at once
    // would delay relays), including lost ones and those that have failed before; and sets all after a lost connection.
    private async Task RunAsync()
    {
        TimeSpan turn = members.Lease / 5 < LongestTurn ? members.Lease / 5 : LongestTurn;

        // A claim may have to wait for the next round, and a turn takes as long as Redis needs: two rounds are two thirds of a key's
        // lifetime.
        var walk = new ClaimWalk(_own, turnsOfRound: (int)(KeyLife / 3 / turn));

        // A fifth of the lease is left for the time of the turns themselves, and for setting a key again.
        var checks = new ClaimWalk(_own, turnsOfRound: (int)(members.Lease * 0.8 / turn));
        int retried = (int)(RetriedPerSecond * turn.TotalSeconds);
        IReadOnlySet<OwnId> failed = new HashSet<OwnId>();
        bool all = false;
        while (true)
        {
            try
            {
                all |= await _keepNow.WaitAsync(turn, _stop.Token).ConfigureAwait(false);
                while (_keepNow.Wait(0, CancellationToken.None))
                {
                    // Once for all connections that were lost.
                }

                if (members.IsValid)
                {
                    double most = ReadsPerSecond * turn.TotalSeconds / members.Members.Count;

                    // Failed ids wait in line: a server that refuses is not asked about all of its ids each second.
                    KeptIds kept = await KeepAllAsync(all ? All() : walk.NextTurn()
                        .Union(failed.Take(retried))
                        .Union(await FindChangedAsync(checks.NextTurn(most)).ConfigureAwait(false))).ConfigureAwait(false);
                    failed = all ? kept.Failed : failed.Skip(retried).Union(kept.Failed).ToHashSet();
                    Volatile.Write(ref _isFailing, failed.Count != 0);
                    all = false;
                }
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
        }
    }

    // The outcome for ids: how many belong to others, which keys could not be set, and the first reason.
    private readonly record struct KeptIds(int Lost, IReadOnlySet<OwnId> Failed, Exception? Failure);
}
