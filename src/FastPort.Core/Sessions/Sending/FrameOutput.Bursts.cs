namespace FastPort.Sessions.Sending;

/// <content>Bursts of one thread to many sessions, see <see cref="SendBurst"/>.</content>
internal sealed partial class FrameOutput
{
    // The outputs of this thread's burst that are to be flushed; null if it has none.
    [ThreadStatic]
    private static List<FrameOutput>? _burst;

    // A list is kept for the thread's next burst.
    [ThreadStatic]
    private static List<FrameOutput>? _spareBurst;

    // The burst that has this output in its list. Another thread's burst may replace it: then this one lists the output once more.
    private List<FrameOutput>? _listedIn;

    public static List<FrameOutput> BeginBurst()
    {
        if (_burst is not null)
        {
            throw new InvalidOperationException("This thread has begun a burst already; dispose it first.");
        }

        _burst = _spareBurst ?? [];
        _spareBurst = null;
        return _burst;
    }

    public static void EndBurst(List<FrameOutput>? burst)
    {
        if (burst is null || !ReferenceEquals(burst, _burst))
        {
            throw new InvalidOperationException("The burst has ended already, or another thread began it.");
        }

        _burst = null;
        foreach (FrameOutput output in burst)
        {
            Volatile.Write(ref output._listedIn, null);
            output._connection.Flush();
        }

        burst.Clear();
        _spareBurst = burst;
    }

    private void FlushWithBurst(List<FrameOutput> burst)
    {
        if (!ReferenceEquals(Volatile.Read(ref _listedIn), burst))
        {
            Volatile.Write(ref _listedIn, burst);
            burst.Add(this);
        }
    }
}
