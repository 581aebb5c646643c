using System.Collections.Concurrent;

namespace FastPort.Sessions;

/// <summary>Which session has which routing id. Thread-safe; an id belongs to one session at a time.</summary>
internal sealed class IdentityRegistry
{
    private readonly ConcurrentDictionary<string, Session> _owners = new(StringComparer.Ordinal);

    /// <summary>Takes an id; false where another session has it and <paramref name="takeOver"/> is not set.</summary>
    /// <param name="routingId">The id, not empty.</param>
    /// <param name="session">The new owner.</param>
    /// <param name="takeOver">Whether the newcomer wins.</param>
    /// <param name="previous">The session that lost the id, to be closed.</param>
    public bool TryTake(string routingId, Session session, bool takeOver, out Session? previous)
    {
        while (true)
        {
            previous = null;
            if (_owners.TryAdd(routingId, session))
            {
                return true;
            }

            if (!_owners.TryGetValue(routingId, out Session? owner))
            {
                continue;
            }

            if (!takeOver)
            {
                return false;
            }

            if (_owners.TryUpdate(routingId, session, owner))
            {
                previous = owner;
                return true;
            }
        }
    }

    public void Release(string routingId, Session session) =>
        _owners.TryRemove(new KeyValuePair<string, Session>(routingId, session));

    public Session? Find(string routingId) => _owners.GetValueOrDefault(routingId);
}
