namespace FastPort.Sessions.Sending;

/// <content>What one thread sends to many sessions, see <see cref="FlushGroup"/>.</content>
internal sealed partial class FrameOutput
{
    // The outputs of this thread's group that are to be flushed; null if it has none.
    [ThreadStatic]
    private static List<FrameOutput>? _group;

    // A list is kept for the thread's next group.
    [ThreadStatic]
    private static List<FrameOutput>? _spareGroup;

    // The group that has this output in its list. Another thread's group may replace it: then this one lists the output once more.
    private List<FrameOutput>? _listedIn;

    public static List<FrameOutput> BeginGroup()
    {
        if (_group is not null)
        {
            throw new InvalidOperationException("This thread has begun a group already; dispose it first.");
        }

        _group = _spareGroup ?? [];
        _spareGroup = null;
        return _group;
    }

    public static void EndGroup(List<FrameOutput>? group)
    {
        if (group is null || !ReferenceEquals(group, _group))
        {
            throw new InvalidOperationException("The group has ended already, or another thread began it.");
        }

        _group = null;
        foreach (FrameOutput output in group)
        {
            Volatile.Write(ref output._listedIn, null);
            output._connection.Flush();
        }

        group.Clear();
        _spareGroup = group;
    }

    private void FlushWithGroup(List<FrameOutput> group)
    {
        if (!ReferenceEquals(Volatile.Read(ref _listedIn), group))
        {
            Volatile.Write(ref _listedIn, group);
            group.Add(this);
        }
    }
}
