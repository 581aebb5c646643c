using System.Diagnostics.CodeAnalysis;

namespace FastPort.Redis.Relaying;

/// <summary>The relays that wait for their confirmations, by correlation. Thread-safe; <see cref="_gate"/> guards the table.</summary>
internal sealed class PendingRelays
{
    private readonly Lock _gate = new();
    private readonly Stack<uint> _free = new();
    private PendingRelay?[] _table = new PendingRelay?[64];
    private uint _used;
    private uint _uses;
    private int _count;

    public int Count => Volatile.Read(ref _count);

    public PendingRelay Add(long deadline)
    {
        var pending = new PendingRelay { Deadline = deadline };
        lock (_gate)
        {
            if (!_free.TryPop(out uint place))
            {
                place = _used++;
                if (place == _table.Length)
                {
                    Array.Resize(ref _table, _table.Length * 2);
                }
            }

            // A late confirmation must not find a later relay at the same place; 0 stands for none.
            _uses++;
            pending.Correlation = ((ulong)_uses << 32) | place | 1UL << 31;
            _table[place] = pending;
            _count++;
            return pending;
        }
    }

    /// <summary>Removes a relay, which the caller then completes; false if it was completed before.</summary>
    public bool TryTake(ulong correlation, [NotNullWhen(true)] out PendingRelay? pending)
    {
        uint place = (uint)correlation & 0x7FFF_FFFF;
        lock (_gate)
        {
            pending = place < _table.Length ? _table[place] : null;
            if (pending?.Correlation != correlation)
            {
                pending = null;
                return false;
            }

            Remove(place);
            return true;
        }
    }

    /// <summary>A relay that still waits; null if it was completed.</summary>
    public PendingRelay? Find(ulong correlation)
    {
        uint place = (uint)correlation & 0x7FFF_FFFF;
        lock (_gate)
        {
            return place < _table.Length && _table[place] is { } pending && pending.Correlation == correlation ? pending : null;
        }
    }

    /// <summary>Completes all that the condition selects.</summary>
    public void Complete(Func<PendingRelay, bool> condition, SendStatus status)
    {
        List<PendingRelay> taken = [];
        lock (_gate)
        {
            for (uint place = 0; place < _used; place++)
            {
                if (_table[place] is { } pending && condition(pending))
                {
                    Remove(place);
                    taken.Add(pending);
                }
            }
        }

        foreach (PendingRelay pending in taken)
        {
            pending.Complete(status);
        }
    }

    /// <summary>Gives all up at this time at the latest.</summary>
    public void Shorten(long deadline)
    {
        lock (_gate)
        {
            foreach (PendingRelay? pending in _table.AsSpan(0, (int)_used))
            {
                if (pending is not null)
                {
                    pending.Deadline = Math.Min(pending.Deadline, deadline);
                }
            }
        }
    }

    private void Remove(uint place)
    {
        _table[place] = null;
        _free.Push(place);
        _count--;
    }
}
