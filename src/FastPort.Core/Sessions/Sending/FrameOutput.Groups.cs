using FastPort.Sessions.Requests;

namespace FastPort.Sessions.Sending;

/// <content>What one thread sends to many sessions, see <see cref="FlushGroup"/>.</content>
internal sealed partial class FrameOutput
{
    // The outputs of this thread's group that are to be flushed; null if it has none.
    [ThreadStatic]
    private static HashSet<FrameOutput>? _group;

    // A set is kept for the thread's next group.
    [ThreadStatic]
    private static HashSet<FrameOutput>? _spareGroup;

    private int _isFlushPending;

    /// <summary>
    /// A <see cref="ContinuationQueue"/> flushes this output soon; false if one does already. A full fence, as the next method: a thread
    /// that gets false has written its frame before that flush begins.
    /// </summary>
    public bool TryBeginFlush() => Interlocked.Exchange(ref _isFlushPending, 1) == 0;

    public void EndFlush()
    {
        Interlocked.Exchange(ref _isFlushPending, 0);
        _connection.Flush();
    }

    public static HashSet<FrameOutput> BeginGroup()
    {
        if (_group is not null)
        {
            throw new InvalidOperationException("This thread has begun a group already; dispose it first.");
        }

        _group = _spareGroup ?? [];
        _spareGroup = null;
        return _group;
    }

    public static void EndGroup(HashSet<FrameOutput>? group)
    {
        if (group is null || !ReferenceEquals(group, _group))
        {
            throw new InvalidOperationException("The group has ended already, or another thread began it.");
        }

        _group = null;
        foreach (FrameOutput output in group)
        {
            output._connection.Flush();
        }

        group.Clear();
        _spareGroup = group;
    }
}
