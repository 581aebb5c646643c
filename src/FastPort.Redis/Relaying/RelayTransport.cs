using System.Buffers.Binary;
using System.Collections.Concurrent;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Wire;
using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis.Relaying;

/// <summary>The links to the other nodes, the relays that wait for confirmations, and the handling of lost ones. Thread-safe.</summary>
internal sealed class RelayTransport : IAsyncDisposable
{
    private static readonly TimeSpan CheckInterval = TimeSpan.FromMilliseconds(100);

    // Peers can cause any number of lost one-way relays: these share a line of the log.
    private static readonly TimeSpan LostInterval = TimeSpan.FromSeconds(1);

    // A node subscribes again within some ten milliseconds.
    private static readonly TimeSpan ResubscribingCheck = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan MaxResubscribing = TimeSpan.FromMilliseconds(500);

    private readonly LostRelays _lost = new();
    private long _lostToldAt;

    private readonly ConcurrentDictionary<ulong, NodeLink> _links = new();
    private readonly IDatabase _redis;
    private readonly string _prefix;
    private readonly Membership _members;
    private readonly TimeProvider _time;
    private readonly TimeSpan _lease;
    private readonly ILogger _logger;
    private readonly ITimer _timer;

    public RelayTransport(
        IDatabase redis, string prefix, Membership members, TimeSpan lease, TimeSpan relayTimeout, TimeProvider time, ILogger logger)
    {
        _redis = redis;
        _prefix = prefix;
        _members = members;
        _time = time;
        _lease = lease;
        _logger = logger;

        // The target's node itself answers after this time.
        RelayTimeout = relayTimeout > TimeSpan.Zero ? relayTimeout : TimeSpan.FromMinutes(1);
        _timer = NoContext.CreateTimer(time, static state => ((RelayTransport)state!).Check(), this, CheckInterval, CheckInterval);
    }

    /// <summary>This node's instance.</summary>
    public ulong Self => _members.Self.Instance;

    public long Now => _time.GetTimestamp();

    public TimeSpan RelayTimeout { get; }

    public PendingRelays Pending { get; } = new();

    public BackplaneCounters Counters { get; } = new();

    /// <summary>
    /// Whether Redis is a cluster. Its channels are then sharded: the server of the channel's slot has its subscriber, passes publications
    /// to no other server, and knows how many have received them.
    /// </summary>
    public required bool IsCluster { get; init; }

    /// <summary>Sends relays that did not find their target to its current node. Set before the first relay.</summary>
    public required Action<byte[], WaitingRelay> LookUp { get; init; }

    /// <summary>An id is not at the location to which a relay with this token was sent. Set before the first relay.</summary>
    public required Action<byte[], long> Forget { get; init; }

    /// <summary>Entries to a node about wanted topics may be lost. Set before the first batch.</summary>
    public required Action<ulong> InterestsLost { get; init; }

    /// <summary>Raised ten times a second, after batches that were not confirmed in time have been given up.</summary>
    public event Action? Checked;

    public IEnumerable<NodeLink> Links => _links.Values;

    public RedisChannel ChannelOf(ulong instance)
    {
        string name = $"{_prefix}:node:{Member.Format(instance)}";
        return IsCluster ? RedisChannel.Sharded(name) : RedisChannel.Literal(name);
    }

    /// <summary>Publishes a batch and returns how many have received it.</summary>
    public Task<long> PublishAsync(RedisChannel channel, ReadOnlyMemory<byte> batch) => _redis.PublishAsync(channel, batch);

    /// <summary>
    /// Waits until a member that was not subscribed may be subscribed again. False if there is no such member, or it had enough time.
    /// </summary>
    /// <param name="instance">The node.</param>
    /// <param name="attempt">The number of earlier waits.</param>
    public async ValueTask<bool> ResubscribesAsync(ulong instance, int attempt)
    {
        if (attempt * ResubscribingCheck >= MaxResubscribing || !_members.Members.ContainsKey(instance))
        {
            return false;
        }

        await Task.Delay(ResubscribingCheck, _time).ConfigureAwait(false);
        return true;
    }

    /// <summary>The link to a node; null before the first exchange with it.</summary>
    public NodeLink? FindLink(ulong instance) => _links.GetValueOrDefault(instance);

    public NodeLink LinkTo(ulong instance) =>
        FindLink(instance) ?? _links.GetOrAdd(instance, new NodeLink(this, instance, _members.Members.GetValueOrDefault(instance)));

    /// <summary>Registers a relay of this node that waits for its confirmation.</summary>
    public PendingRelay Await() => Pending.Add(Now + Ticks(RelayTimeout + _lease));

    /// <summary>
    /// Asks the owner of an id whether it still has it: false if its session is about to end or is not there; null without an answer, at
    /// once if the owner does not read this node's batches.
    /// </summary>
    public async ValueTask<bool?> ChallengeAsync(Location location, byte[] id)
    {
        NodeLink link = LinkTo(location.Instance);
        if (!link.IsCompatible)
        {
            return null;
        }

        PendingRelay pending = Pending.Add(Now + Ticks(_lease));
        ValueTask<SendStatus> answer = pending.AsTask();
        link.Challenge(pending, location.Token, id);
        return await answer.ConfigureAwait(false) switch
        {
            SendStatus.Queued => true,
            SendStatus.NotFound => false,
            _ => null,
        };
    }

    /// <summary>Reports the outcome of a relay to its waiter.</summary>
    /// <param name="correlation">Its correlation; 0 if it is one-way.</param>
    /// <param name="origin">The node that waits.</param>
    /// <param name="id">The target.</param>
    /// <param name="status">Its outcome.</param>
    public void Settle(ulong correlation, ulong origin, ReadOnlySpan<byte> id, SendStatus status)
    {
        if (correlation == 0)
        {
            if (status != SendStatus.Queued)
            {
                Counters.OneWaysLost(1);
                _lost.Add(id, status);
            }
        }
        else if (origin != Self)
        {
            LinkTo(origin).Confirm(correlation, status);
        }
        else if (Pending.TryTake(correlation, out PendingRelay? pending))
        {
            pending.Complete(status);
        }
    }

    /// <summary>Batches of a link are lost, or may be.</summary>
    public void Lost(NodeLink link, ulong first, ulong last, in BatchContent content)
    {
        if (content.OneWays != 0)
        {
            Counters.OneWaysLost(content.OneWays);
            BackplaneLog.OneWaysLost(_logger, content.OneWays, link.Name);
        }

        foreach ((ulong correlation, ulong origin) in content.Forwarded ?? [])
        {
            Settle(correlation, origin, default, SendStatus.Unconfirmed);
        }

        LostTopics(link, content.Publications, content.Interests);
        Pending.Complete(pending => pending.IsIn(link, first, last), SendStatus.Unconfirmed);
    }

    /// <summary>A batch could not be sent, for a reason that is not Redis's.</summary>
    public void SendingFailed(NodeLink link, Exception exception) => BackplaneLog.SendingFailed(_logger, link.Name, exception);

    /// <summary>No node has received this batch: its relays look for their targets again.</summary>
    public void Undelivered(NodeLink link, ReadOnlySpan<byte> batch)
    {
        LookUpRelays(batch);
        int publications = 0;
        int interests = 0;

        // The header of a batch that was not sent yet is empty.
        var reader = BatchReader.OpenOwn(batch);
        while (reader.Read())
        {
            if (reader.Kind == EntryKind.Challenge
                && Pending.TryTake(BinaryPrimitives.ReadUInt64LittleEndian(reader.Payload), out PendingRelay? challenge))
            {
                challenge.Complete(SendStatus.Unavailable);
            }

            publications += reader.Kind == EntryKind.Publish ? 1 : 0;
            interests += reader.Kind.IsInterest() ? 1 : 0;
        }

        LostTopics(link, publications, interests);
    }

    /// <summary>The relays of a batch look for their targets again.</summary>
    public void LookUpRelays(ReadOnlySpan<byte> batch)
    {
        var reader = BatchReader.OpenOwn(batch);
        while (reader.Read())
        {
            if (reader.Kind == EntryKind.Relay && RelayEntry.TryRead(reader.Payload, out RelayEntry entry))
            {
                LookUp(entry.Id.ToArray(), WaitingRelay.Copy(entry, moreHops: 1, Now) with
                {
                    Pending = entry.Origin == Self ? Pending.Find(entry.Correlation) : null,
                });
            }
        }
    }

    /// <summary>Later relays to the targets of a batch do not follow it to its node: they wait until the targets are found.</summary>
    public void ForgetTargets(ReadOnlySpan<byte> batch)
    {
        var reader = BatchReader.OpenOwn(batch);
        while (reader.Read())
        {
            if (reader.Kind == EntryKind.Relay && RelayEntry.TryRead(reader.Payload, out RelayEntry entry))
            {
                Forget(entry.Id.ToArray(), entry.Token);
            }
        }
    }

    /// <summary>The connection to Redis has recovered: confirmations in transit may be lost, so relays do not wait long for them.</summary>
    public void ConnectionRestored() => Pending.Shorten(Now + Ticks(_lease));

    public void NodeLeft(Member member)
    {
        BackplaneLog.NodeLeft(_logger, member.Name);
        if (_links.TryRemove(member.Instance, out NodeLink? link))
        {
            link.Close();
        }
    }

    public async ValueTask DisposeAsync()
    {
        _lost.Tell(_logger);
        await _timer.DisposeAsync().ConfigureAwait(false);
        Pending.Complete(static _ => true, SendStatus.Unconfirmed);
    }

    public long Ticks(TimeSpan time) => (long)(time.TotalSeconds * _time.TimestampFrequency);

    private void LostTopics(NodeLink link, int publications, int interests)
    {
        if (publications != 0)
        {
            Counters.PublicationsLost(publications);
            BackplaneLog.PublicationsLost(_logger, publications, link.Name);
        }

        if (interests != 0)
        {
            InterestsLost(link.Instance);
        }
    }

    private void Check()
    {
        long now = Now;
        if (_time.GetElapsedTime(_lostToldAt, now) >= LostInterval)
        {
            _lostToldAt = now;
            _lost.Tell(_logger);
        }

        if (Pending.Count != 0)
        {
            Pending.Complete(pending => pending.Deadline <= now, SendStatus.Unconfirmed);
        }

        foreach (NodeLink link in _links.Values)
        {
            link.GiveUp(now - Ticks(_lease));
            link.TryAgain();
            if (!_members.Members.ContainsKey(link.Instance) && link.QueuedBytes == 0
                && _links.TryRemove(KeyValuePair.Create(link.Instance, link)))
            {
                // A link that was created for an outdated location.
                link.Close();
            }
        }

        Checked?.Invoke();
    }
}
