namespace FastPort.Sessions;

/// <summary>
/// Sessions that get the same messages, kept so that going over them takes no lock and allocates nothing. Changes exclude each other by a lock of
/// whoever owns the set.
/// <para>
/// A newcomer is appended, one that leaves empties its place. Whoever is going over the places meanwhile sees or misses just those two: all others
/// stay where they are until the places are full or mostly empty, and then they move to a new array.
/// </para>
/// </summary>
internal sealed class SessionSet
{
    // Up to here finding a session by looking at all costs less than a dictionary.
    private const int LookThrough = 16;

    private Session?[] _places = new Session?[1];
    private Dictionary<Session, int>? _index;
    private int _used;
    private int _count;

    /// <summary>Number of members; any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The members, with empty places among them; any thread, not to be kept.</summary>
    public ReadOnlySpan<Session?> Members => Volatile.Read(ref _places);

    /// <summary>False where the session is a member already.</summary>
    public bool Add(Session session)
    {
        if (Find(session) >= 0)
        {
            return false;
        }

        if (_used == _places.Length)
        {
            // Half full at the most afterwards, so that moving costs each newcomer little.
            Move(Math.Max(2, _count * 2));
        }

        Volatile.Write(ref _places[_used], session);
        _index?.Add(session, _used);
        _used++;
        Volatile.Write(ref _count, _count + 1);
        return true;
    }

    /// <summary>False where the session is no member.</summary>
    public bool Remove(Session session)
    {
        int place = Find(session);
        if (place < 0)
        {
            return false;
        }

        Volatile.Write(ref _places[place], null);
        _index?.Remove(session);
        Volatile.Write(ref _count, _count - 1);
        if (_places.Length > LookThrough && _count < _places.Length / 4)
        {
            Move(Math.Max(1, _count * 2));
        }

        return true;
    }

    private int Find(Session session) =>
        _index is null ? _places.AsSpan(0, _used).IndexOf(session) : _index.GetValueOrDefault(session, -1);

    private void Move(int places)
    {
        var moved = new Session?[places];
        int used = 0;
        foreach (Session? session in _places)
        {
            if (session is not null)
            {
                moved[used++] = session;
            }
        }

        _index = null;
        if (places > LookThrough)
        {
            _index = new Dictionary<Session, int>(places);
            for (int i = 0; i < used; i++)
            {
                _index.Add(moved[i]!, i);
            }
        }

        _used = used;
        Volatile.Write(ref _places, moved);
    }
}
