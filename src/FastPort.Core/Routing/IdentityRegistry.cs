using System.Collections.Concurrent;
using System.Text;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// The sessions by routing id; an id belongs to one session at a time. Lookups take no lock and allocate nothing. <see cref="_gate"/>
/// serializes changes, which happen at Hello and at the end of a session; no callback runs under it.
/// <para>
/// A session claims its id before its Welcome and becomes reachable after it (<see cref="TryEnter"/>), because no unsolicited message may
/// precede a Welcome. During a take-over the older session stays reachable until then, so that the id is reachable all the time.
/// </para>
/// </summary>
internal sealed class IdentityRegistry : IRoutingIds
{
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<byte[], RoutingIdentity> _identities = new(Utf8Comparer.Instance);
    private readonly ConcurrentDictionary<byte[], RoutingIdentity>.AlternateLookup<ReadOnlySpan<byte>> _bySpan;

    // The same identities by string, so that the application's lookups need no encoding.
    private readonly ConcurrentDictionary<string, RoutingIdentity> _byText = new(StringComparer.Ordinal);

    public IdentityRegistry() => _bySpan = _identities.GetAlternateLookup<ReadOnlySpan<byte>>();

    /// <summary>The identities in use, including those whose session is not reachable yet.</summary>
    public IEnumerable<RoutingIdentity> All
    {
        get
        {
            foreach (KeyValuePair<byte[], RoutingIdentity> pair in _identities)
            {
                yield return pair.Value;
            }
        }
    }

    public IClaimedId? TryClaim(string routingId, Session session, bool takeOver)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(routingId);
        lock (_gate)
        {
            if (!_identities.TryGetValue(utf8, out RoutingIdentity? identity))
            {
                identity = new RoutingIdentity(this, routingId, utf8);
                _identities[utf8] = identity;
                _byText[routingId] = identity;
            }
            else if (!takeOver && identity.Owner is { Protocol.End.HasBegun: false })
            {
                return null;
            }

            identity.Owner = session;
            return identity;
        }
    }

    /// <inheritdoc cref="IClaimedId.TryEnter"/>
    public bool TryEnter(RoutingIdentity identity, Session session, out Session? previous)
    {
        lock (_gate)
        {
            bool owns = ReferenceEquals(identity.Owner, session);
            previous = owns ? identity.Session : null;
            if (owns)
            {
                identity.Session = session;
            }

            return owns;
        }
    }

    /// <inheritdoc cref="IClaimedId.Leave"/>
    public bool Leave(RoutingIdentity identity, Session session)
    {
        lock (_gate)
        {
            bool left = ReferenceEquals(identity.Session, session);
            if (left)
            {
                identity.Session = null;
            }

            return left;
        }
    }

    /// <inheritdoc cref="IClaimedId.Free"/>
    public void Free(RoutingIdentity identity, Session session)
    {
        lock (_gate)
        {
            if (!ReferenceEquals(identity.Owner, session))
            {
                return;
            }

            // A take-over that did not come about leaves the id with the session that has it.
            identity.Owner = ReferenceEquals(identity.Session, session) ? null : identity.Session;
            if (identity.Owner is null)
            {
                _identities.TryRemove(identity.Utf8, out _);
                _byText.TryRemove(identity.Id, out _);
            }
        }
    }

    /// <summary>The identity with this id in UTF-8; null if the id is not in use.</summary>
    public RoutingIdentity? Find(ReadOnlySpan<byte> utf8) => _bySpan.TryGetValue(utf8, out RoutingIdentity? identity) ? identity : null;

    /// <summary>The identity with this id; null if the id is not in use.</summary>
    public RoutingIdentity? Find(string routingId) => _byText.TryGetValue(routingId, out RoutingIdentity? identity) ? identity : null;
}
