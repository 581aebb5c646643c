namespace FastPort.Sessions;

/// <summary>
/// Members of a group or topic, kept so that going over them takes no lock and allocates nothing. Changes exclude each other by a lock of
/// whoever owns the set.
/// <para>
/// A newcomer is appended, one that leaves empties its place. Whoever is going over the places meanwhile sees or misses just those two: all
/// others stay where they are until the places are full or mostly empty, and then they move to a new array.
/// </para>
/// </summary>
/// <typeparam name="T">What the members are: sessions, compared by reference.</typeparam>
internal sealed class MemberSet<T>
    where T : class
{
    // Up to here finding a member by looking at all costs less than a dictionary.
    private const int LookThrough = 16;

    private T?[] _places = new T?[1];
    private Dictionary<T, int>? _index;
    private int _used;
    private int _count;

    /// <summary>Number of members; any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The members, with empty places among them; any thread, not to be kept.</summary>
    public ReadOnlySpan<T?> Members => Volatile.Read(ref _places);

    /// <summary>False where it is one already.</summary>
    public bool Add(T member)
    {
        if (Find(member) >= 0)
        {
            return false;
        }

        if (_used == _places.Length)
        {
            // Half full at the most afterwards, so that moving costs each newcomer little.
            Move(Math.Max(2, _count * 2));
        }

        Volatile.Write(ref _places[_used], member);
        _index?.Add(member, _used);
        _used++;
        Volatile.Write(ref _count, _count + 1);
        return true;
    }

    /// <summary>False where it is none.</summary>
    public bool Remove(T member)
    {
        int place = Find(member);
        if (place < 0)
        {
            return false;
        }

        Volatile.Write(ref _places[place], null);
        _index?.Remove(member);
        Volatile.Write(ref _count, _count - 1);
        if (_places.Length > LookThrough && _count < _places.Length / 4)
        {
            Move(Math.Max(1, _count * 2));
        }

        return true;
    }

    private int Find(T member) =>
        _index is null ? _places.AsSpan(0, _used).IndexOf(member) : _index.GetValueOrDefault(member, -1);

    private void Move(int places)
    {
        var moved = new T?[places];
        int used = 0;
        foreach (T? member in _places)
        {
            if (member is not null)
            {
                moved[used++] = member;
            }
        }

        _index = null;
        if (places > LookThrough)
        {
            _index = new Dictionary<T, int>(places);
            for (int i = 0; i < used; i++)
            {
                _index.Add(moved[i]!, i);
            }
        }

        _used = used;
        Volatile.Write(ref _places, moved);
    }
}
