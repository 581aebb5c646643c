namespace FastPort.Sessions;

/// <summary>
/// Members of a group or topic. Iterating takes no lock and allocates nothing. The owner of the set serializes changes with its own lock.
/// <para>
/// A new member is appended; a removed one leaves an empty place. A concurrent iteration may or may not see such a member. All others keep
/// their places until the places are full or mostly empty; then all move to a new array.
/// </para>
/// </summary>
/// <typeparam name="T">Type of the members, compared by reference.</typeparam>
internal sealed class MemberSet<T>
    where T : class
{
    // Up to this number of places, a linear search costs less than a dictionary.
    private const int LookThrough = 16;

    private T?[] _places = new T?[1];
    private Dictionary<T, int>? _index;
    private int _used;
    private int _count;

    /// <summary>Number of members. Any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The members, with empty places (null) among them. Any thread; not to be stored.</summary>
    public ReadOnlySpan<T?> Members => Volatile.Read(ref _places);

    /// <summary>Adds a member; false if it is one already.</summary>
    public bool Add(T member)
    {
        if (Find(member) >= 0)
        {
            return false;
        }

        if (_used == _places.Length)
        {
            // At most half full afterwards, so that the cost of moving is amortized.
            Move(Math.Max(2, _count * 2));
        }

        Volatile.Write(ref _places[_used], member);
        _index?.Add(member, _used);
        _used++;
        Volatile.Write(ref _count, _count + 1);
        return true;
    }

    /// <summary>Removes a member; false if it is none.</summary>
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
