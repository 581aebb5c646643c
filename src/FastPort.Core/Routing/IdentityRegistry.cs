using System.Collections.Concurrent;
using System.Text;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// Which session has which routing id; an id belongs to one session at a time. Look-ups take no lock and allocate nothing.
/// <see cref="_gate"/> makes the changes one after the other, which come with Hello and with the end of a session; nothing is called under
/// it.
/// <para>
/// A session claims its id before its Welcome and can be reached after it (<see cref="TryEnter"/>), as nothing unasked may go before a
/// Welcome. Where it takes the id over, the older session is reached until then, so that at no time nobody is.
/// </para>
/// </summary>
internal sealed class IdentityRegistry : IRoutingIds
{
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<byte[], RoutingIdentity> _identities = new(Utf8Comparer.Instance);
    private readonly ConcurrentDictionary<byte[], RoutingIdentity>.AlternateLookup<ReadOnlySpan<byte>> _bySpan;

    // The same by the id as the embedding program has it, which would have to be encoded for each look-up.
    private readonly ConcurrentDictionary<string, RoutingIdentity> _byText = new(StringComparer.Ordinal);

    public IdentityRegistry() => _bySpan = _identities.GetAlternateLookup<ReadOnlySpan<byte>>();

    /// <summary>The identities in use, those included whose session cannot be reached yet.</summary>
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
            else if (!takeOver && identity.Owner is { Protocol.IsEnding: false })
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
            if (ReferenceEquals(identity.Owner, session))
            {
                identity.Owner = null;
                _identities.TryRemove(identity.Utf8, out _);
                _byText.TryRemove(identity.Id, out _);
            }
        }
    }

    /// <summary>The identity with this id in UTF-8; null where nobody has it.</summary>
    public RoutingIdentity? Find(ReadOnlySpan<byte> utf8) => _bySpan.TryGetValue(utf8, out RoutingIdentity? identity) ? identity : null;

    /// <summary>The identity with this id; null where nobody has it.</summary>
    public RoutingIdentity? Find(string routingId) => _byText.TryGetValue(routingId, out RoutingIdentity? identity) ? identity : null;
}
