using System.Net;
using FastPort.Connections;

namespace FastPort;

/// <summary>
/// The bans of a server. A banned address is rejected when it connects, a banned identity when it says Hello; existing connections of both
/// are closed. Bans expire on their own. The list is in memory only: a program that needs it after a restart must store it. Thread-safe.
/// </summary>
public sealed class BanList
{
    /// <summary>Maximum number of bans. Beyond it, the bans that end first are dropped.</summary>
    public const int MaxEntries = 10_000;

    private readonly TimeProvider _time;

    // Serializes changes. The events are raised under it, so that subscribers see the changes in order.
    private readonly Lock _gate = new();

    // Replaced at each change: new connections look it up without a lock.
    private volatile Lookup _lookup = Lookup.Empty;

    /// <summary>Creates an empty list.</summary>
    /// <param name="time">Source of time. Defaults to the system's.</param>
    public BanList(TimeProvider? time = null) => _time = time ?? TimeProvider.System;

    /// <summary>
    /// A ban was added or changed. Subscribers must not block or change the list. If one throws, the others are still called.
    /// </summary>
    public event Action<Ban>? Added;

    /// <summary>A ban was lifted before its end; as for <see cref="Added"/>.</summary>
    public event Action<Ban>? Lifted;

    /// <summary>The bans in force, ordered by the time they end.</summary>
    public IReadOnlyList<Ban> Entries
    {
        get
        {
            DateTimeOffset now = _time.GetUtcNow();
            return [.. _lookup.All.Where(ban => ban.Until > now)];
        }
    }

    /// <summary>Adds a ban, or replaces the ban of the same subject. A ban that has already ended is not added.</summary>
    /// <param name="ban">The ban.</param>
    /// <exception cref="AggregateException">Subscribers threw. The list has changed, and all of them were called.</exception>
    public void Add(Ban ban)
    {
        ArgumentNullException.ThrowIfNull(ban);
        Add([ban]);
    }

    /// <summary>As <see cref="Add(Ban)"/>, but changes the list only once: each change takes a walk over the list.</summary>
    /// <param name="bans">The bans. For each subject, the last one counts.</param>
    /// <exception cref="AggregateException">Subscribers threw. The list has changed, and all of them were called.</exception>
    public void Add(IEnumerable<Ban> bans)
    {
        ArgumentNullException.ThrowIfNull(bans);
        Ban[] added = [.. bans];
        HashSet<string> subjects = [.. added.Select(static ban => ban.Subject)];
        lock (_gate)
        {
            Set([.. _lookup.All.Where(other => !subjects.Contains(other.Subject)), .. added]);
        }
    }

    /// <summary>Ends a ban; false if there is none of this subject.</summary>
    /// <param name="subject">The subject, as <see cref="Ban.Subject"/> has it.</param>
    /// <exception cref="AggregateException">Subscribers threw. The list has changed, and all of them were called.</exception>
    public bool Lift(string subject)
    {
        lock (_gate)
        {
            int before = _lookup.All.Length;
            Set([.. _lookup.All.Where(ban => ban.Subject != subject)]);
            return _lookup.All.Length != before;
        }
    }

    /// <summary>
    /// Applies all changes of a store, such as a file, that contains some of the bans, in one change of the list: bans that have left the
    /// store are lifted, new bans are added. Bans that others have added stay, and a ban is kept if it ends later than the store's new ban
    /// of the same subject.
    /// </summary>
    /// <param name="before">The store's previous bans; empty at first. Bans that others have replaced since are not lifted.</param>
    /// <param name="now">The store's current bans. For each subject, the last one counts.</param>
    /// <exception cref="AggregateException">Subscribers threw. The list has changed, and all of them were called.</exception>
    public void Replace(IEnumerable<Ban> before, IEnumerable<Ban> now)
    {
        ArgumentNullException.ThrowIfNull(before);
        ArgumentNullException.ThrowIfNull(now);
        HashSet<Ban> left = [.. LastOfEach(before)];
        Ban[] came = [.. LastOfEach(now).Where(ban => !left.Remove(ban))];
        lock (_gate)
        {
            // For each subject the last one counts, which is the one that ends last: the store's earlier ban has been removed.
            Set(_lookup.All.Where(ban => !left.Contains(ban)).Concat(came).OrderBy(static ban => ban.Until));
        }
    }

    /// <summary>The ban in force for an address; null for none. For servers of other protocols.</summary>
    /// <param name="peer">The peer's address; null if it has none.</param>
    public Ban? Find(EndPoint? peer) => _lookup is { All.Length: not 0 } lookup ? lookup.Find(peer, _time.GetUtcNow()) : null;

    /// <summary>The ban in force for an identity; null for none. For servers of other protocols.</summary>
    /// <param name="user">The identity's name, without <see cref="Ban.UserPrefix"/>.</param>
    public Ban? Find(string user) => _lookup.Users.TryGetValue(user, out Ban? ban) && ban.Until > _time.GetUtcNow() ? ban : null;

    private void Set(IEnumerable<Ban> bans)
    {
        DateTimeOffset now = _time.GetUtcNow();
        Dictionary<string, Ban> before = _lookup.All.Where(ban => ban.Until > now).ToDictionary(static ban => ban.Subject);
        Ban[] all =
        [
            .. LastOfEach(bans.Where(ban => ban.Until > now))
                .OrderBy(static ban => ban.Until)
                .TakeLast(MaxEntries),
        ];
        _lookup = new Lookup(all);
        List<Exception> failures = [];
        foreach (Ban ban in all)
        {
            if (!before.Remove(ban.Subject, out Ban? old) || old != ban)
            {
                failures.AddRange(Call(Added, ban));
            }
        }

        foreach (Ban ban in before.Values)
        {
            failures.AddRange(Call(Lifted, ban));
        }

        if (failures.Count != 0)
        {
            throw new AggregateException("A subscriber of the ban list threw; the list has changed.", failures);
        }
    }

    private static IEnumerable<Ban> LastOfEach(IEnumerable<Ban> bans) =>
        bans.GroupBy(static ban => ban.Subject).Select(static same => same.Last());

    private static IReadOnlyList<Exception> Call(Action<Ban>? subscribers, Ban ban) =>
        Subscribers.Call(subscribers, ban, static (subscriber, b) => subscriber(b));

    // Most bans are of one address, which costs one access; only wider networks are walked through.
    private sealed class Lookup
    {
        public static readonly Lookup Empty = new([]);

        private readonly Dictionary<IPNetwork, Ban> _addresses = [];
        private readonly List<Ban> _networks = [];

        public Lookup(Ban[] all)
        {
            All = all;
            foreach (Ban ban in all)
            {
                if (ban.User is { } user)
                {
                    Users[user] = ban;
                }
                else if (AddressNetworks.CountedAs(new IPEndPoint(ban.Network.BaseAddress, 0)) == ban.Network)
                {
                    _addresses[ban.Network] = ban;
                }
                else
                {
                    _networks.Add(ban);
                }
            }
        }

        public Ban[] All { get; }

        public Dictionary<string, Ban> Users { get; } = new(StringComparer.Ordinal);

        // A ban that has ended stays until the next change: it must not hide one of a wider network that is still in force.
        public Ban? Find(EndPoint? peer, DateTimeOffset now)
        {
            if (AddressNetworks.CountedAs(peer) is not { } network)
            {
                return null;
            }

            return _addresses.TryGetValue(network, out Ban? ban) && ban.Until > now
                ? ban
                : _networks.Find(other => other.Until > now && other.Bans(peer));
        }
    }
}
