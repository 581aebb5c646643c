namespace FastPort.Routing;

/// <summary>
/// Marks the subscribers that have received the current publication, if several prefixes match. A mark per subscriber number, which need
/// not be cleared before the next publication. One instance per thread, so marking takes no lock and, once the array is large enough,
/// allocates nothing.
/// </summary>
internal sealed class DeliveryMarks
{
    [ThreadStatic]
    private static DeliveryMarks? _free;

    private uint[] _marks = [];
    private uint _mark;

    /// <summary>Takes this thread's marks for one publication; a nested one, from a callback, gets its own.</summary>
    public static DeliveryMarks Begin()
    {
        DeliveryMarks marks = _free ?? new DeliveryMarks();
        _free = null;
        if (++marks._mark == 0)
        {
            Array.Clear(marks._marks);
            marks._mark = 1;
        }

        return marks;
    }

    /// <summary>Marks a subscriber; false if it has the mark of this publication.</summary>
    public bool TryMark(Subscriber subscriber)
    {
        if (subscriber.Number >= _marks.Length)
        {
            Array.Resize(ref _marks, Math.Max(64, 2 * subscriber.Number));
        }

        ref uint mark = ref _marks[subscriber.Number];
        bool isNew = mark != _mark;
        mark = _mark;
        return isNew;
    }

    public void End() => _free = this;
}
