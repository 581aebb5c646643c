using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using FastPort.Redis.Members;
using FastPort.Routing;
using FastPort.Sessions;
using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis.Directory;

/// <summary>
/// The nodes of routing ids: a Redis key for each id. A claim of this node is in force while the node has its lease, so keys need no
/// separate lease; they only live for a limited time after their node's death, and are set again, some each second, before it is over.
/// <see cref="_gate"/> guards the ids' states and the changes of the table; lookups of own ids take no lock.
/// <para>
/// A node that takes over an id notifies the former owner, even if the answer to its claim was lost or its own session has ended in the
/// meantime. So the former owner asks Redis before it closes its session.
/// </para>
/// </summary>
internal sealed partial class ClaimDirectory(IDatabase redis, string prefix, Membership members, ILogger logger)
    : IRoutingIdClaims, IAsyncDisposable
{
    // How long the keys of a node that was killed stay in Redis.
    private static readonly TimeSpan KeyLife = TimeSpan.FromMinutes(10);

    private const int MaxAttempts = 8;

    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<byte[], OwnId> _own = new(Utf8Comparer.Instance);
    private readonly RedisKey _keyPrefix = Encoding.UTF8.GetBytes($"{prefix}:id:");
    private readonly string _instance = Member.Format(members.Self.Instance);
    private readonly CancellationTokenSource _stop = new();

    /// <summary>Number of ids of this node.</summary>
    public int Count => _own.Count;

    /// <summary>Asks the owner of an id whether it still has it; null without an answer.</summary>
    public required Func<Location, byte[], ValueTask<bool?>> ChallengeAsync { get; init; }

    /// <summary>Notifies the former owner of an id that it was, or may have been, taken over.</summary>
    public required Action<Location, byte[]> TellTakenOver { get; init; }

    /// <summary>Runs a script on a key of an id that no session can have, and reads it; changes nothing.</summary>
    public async Task ProbeAsync()
    {
        await redis.ScriptEvaluateAsync(DirectoryScripts.Release, [_keyPrefix], [string.Empty]).ConfigureAwait(false);
        await ReadAsync([_keyPrefix]).ConfigureAwait(false);
    }

    /// <summary>This node's entry of an id; null if none of its sessions has claimed it.</summary>
    public OwnId? Find(ReadOnlySpan<byte> id) =>
        _own.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(id, out OwnId? own) ? own : null;

    public async ValueTask<RoutingIdGrant> ClaimAsync(RoutingIdClaim claim, CancellationToken cancellationToken)
    {
        if (!members.MayClaim)
        {
            return RoutingIdGrant.Unavailable;
        }

        OwnId own = Ask(claim.RoutingId);
        string outdated = string.Empty;
        Location? takenFrom = null;
        try
        {
            for (int attempt = 0; attempt < MaxAttempts && !cancellationToken.IsCancellationRequested; attempt++)
            {
                (bool isClaimed, string value) = await ClaimAsync(own, outdated).ConfigureAwait(false);
                if (!Location.TryParse(value, out Location location))
                {
                    throw new RedisException($"Its key has the foreign value '{value}'; remove the key.");
                }

                if (isClaimed)
                {
                    return await GrantAsync(own, claim, location.Token, cancellationToken).ConfigureAwait(false);
                }

                takenFrom = null;
                if (await members.IsAliveAsync(location.Instance).ConfigureAwait(false))
                {
                    if (claim.TakesOver)
                    {
                        takenFrom = location;
                    }
                    else if (await ChallengeAsync(location, own.Utf8).ConfigureAwait(false) is not false and var keeps)
                    {
                        return keeps == true ? RoutingIdGrant.Taken : RoutingIdGrant.Unavailable;
                    }
                }

                outdated = value;
            }

            // The session is gone, or others claim the same id faster than this node.
            return RoutingIdGrant.Unavailable;
        }
        catch (Exception e) when (e is RedisException or TimeoutException)
        {
            BackplaneLog.ClaimFailed(logger, e.Message);
            return RoutingIdGrant.Unavailable;
        }
        finally
        {
            // In this order: if the session has gone, the former owner finds the id free and keeps it.
            if (Answered(own))
            {
                await FreeAsync(own).ConfigureAwait(false);
            }

            if (takenFrom is { } former)
            {
                TellTakenOver(former, own.Utf8);
            }
        }
    }

    /// <summary>Whether a session of this node has the id and keeps it, or may get it by a claim whose answer is due.</summary>
    public bool Keeps(ReadOnlySpan<byte> id)
    {
        lock (_gate)
        {
            // Regardless of the token: a claim with an outdated token does not get the id.
            return Find(id) is { } own && (own.Asked != 0 || own.Granted.Exists(static claim => !claim.IsEnding));
        }
    }

    public void Release(RoutingIdClaim claim)
    {
        OwnId? own;
        lock (_gate)
        {
            own = Find(Encoding.UTF8.GetBytes(claim.RoutingId));
            if (own is null || !own.Granted.Remove(claim) || !RemoveIfUnused(own))
            {
                // It was not granted, or is lost, or another session here has the id.
                return;
            }
        }

        Free(own);
    }

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

    private OwnId Ask(string routingId)
    {
        byte[] id = Encoding.UTF8.GetBytes(routingId);
        lock (_gate)
        {
            OwnId own = _own.GetOrAdd(id, static id => new OwnId(id));
            own.Asked++;
            return own;
        }
    }

    // True if the session has gone before the answer, and the id is to be freed.
    private bool Answered(OwnId own)
    {
        lock (_gate)
        {
            if (--own.Asked == 0)
            {
                own.MayBeTakenOver = false;
            }

            return RemoveIfUnused(own) && own.Token != 0;
        }
    }

    // Under the lock.
    private bool RemoveIfUnused(OwnId own)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        if (own.Granted.Count == 0 && own.Asked == 0 && !own.IsGone)
        {
            own.IsGone = true;
            _own.TryRemove(own.Utf8, out _);
            return true;
        }

        return false;
    }

    private async Task<(bool IsClaimed, string Value)> ClaimAsync(OwnId own, string outdated)
    {
        var answer = (RedisResult[])(await redis.ScriptEvaluateAsync(
            DirectoryScripts.Claim, [Key(own.Utf8)], [_instance, outdated, (long)KeyLife.TotalMilliseconds]).ConfigureAwait(false))!;
        return ((int)answer[0] == 1, (string)answer[1]!);
    }

    private async Task<RoutingIdGrant> GrantAsync(OwnId own, RoutingIdClaim claim, long token, CancellationToken cancellationToken)
    {
        bool isToBeChecked;
        lock (_gate)
        {
            // Answers of claims for the same id may be handled in another order than Redis ran them.
            own.Token = Math.Max(own.Token, token);
            isToBeChecked = own.MayBeTakenOver;
        }

        if (isToBeChecked)
        {
            await KeepAsync(own).ConfigureAwait(false);
        }

        lock (_gate)
        {
            if (own.Token < token)
            {
                return RoutingIdGrant.Taken;
            }

            // A claim is canceled before it is released.
            if (cancellationToken.IsCancellationRequested)
            {
                return RoutingIdGrant.Unavailable;
            }

            own.Granted.Add(claim);
            return RoutingIdGrant.Granted;
        }
    }

    // Called by an event loop, which must not wait for others that are sending.
    private void Free(OwnId own) => _ = FreeAsync(own, CommandFlags.FireAndForget);

    private async Task FreeAsync(OwnId own, CommandFlags flags = CommandFlags.None)
    {
        try
        {
            await redis.ScriptEvaluateAsync(DirectoryScripts.Release, [Key(own.Utf8)], [Value(own.Token)], flags).ConfigureAwait(false);
        }
        catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException)
        {
            // The next node that claims the id finds that no session of this node has it.
        }
    }

    private string Value(long token) => string.Create(CultureInfo.InvariantCulture, $"{_instance}:{token}");

    private RedisKey Key(byte[] id) => _keyPrefix.Append(id);
}
