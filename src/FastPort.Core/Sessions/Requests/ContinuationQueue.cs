using System.Diagnostics;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Requests;

/// <summary>
/// Resumes the callers of a loop's replies on the thread pool: all that a burst completes with one work item, instead of one each.
/// <para>
/// A continuation may block. So before one runs while others wait, a second work item is queued, which the pool runs as soon as it has a
/// thread: at any time a waiting continuation has a work item that will take it. If none blocks, the second one finds nothing to do.
/// </para>
/// <para>
/// What continuations send is flushed together: when the last of them is about to run, and at the latest after
/// <see cref="FlushAfterNanoseconds"/>. The last one, and so a lone call, flushes by itself. A second work item that begins earlier flushes
/// for the one that blocks.
/// </para>
/// </summary>
internal sealed class ContinuationQueue : IThreadPoolWorkItem
{
    private const long FlushAfterNanoseconds = 50_000;

    [ThreadStatic]
    private static ContinuationQueue? _ofLoop;

    // The queue whose continuation this thread runs while others wait: what is sent is flushed with theirs.
    [ThreadStatic]
    private static ContinuationQueue? _running;

    private readonly Lock _gate = new();

    // Owned by the loop: what the current burst has completed.
    private CompletedReply? _burstFirst;
    private CompletedReply? _burstLast;

    // Guarded by the gate.
    private readonly List<FrameOutput> _unflushed = [];
    private CompletedReply? _first;
    private CompletedReply? _last;
    private bool _requested;

    /// <summary>The queue of the calling thread, which must be a session's loop.</summary>
    public static ContinuationQueue OfLoop => _ofLoop ??= new ContinuationQueue();

    /// <summary>The queue that flushes what this thread sends; null if the thread flushes it itself.</summary>
    public static ContinuationQueue? Running => _running;

    /// <summary>Adds a reply that has arrived. Loop only; <see cref="EndBurst"/> must follow.</summary>
    public void Add(CompletedReply reply)
    {
        Debug.Assert(reply.NextCompleted is null);
        if (_burstLast is null)
        {
            _burstFirst = reply;
        }
        else
        {
            _burstLast.NextCompleted = reply;
        }

        _burstLast = reply;
    }

    /// <summary>Lets the pool resume the callers of the burst's replies. Loop only.</summary>
    public void EndBurst()
    {
        if (_burstFirst is null)
        {
            return;
        }

        bool requests;
        lock (_gate)
        {
            if (_last is null)
            {
                _first = _burstFirst;
            }
            else
            {
                _last.NextCompleted = _burstFirst;
            }

            _last = _burstLast;
            requests = !_requested;
            _requested = true;
        }

        _burstFirst = _burstLast = null;
        if (requests)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>Flushes a session together with what other continuations send.</summary>
    public void Flush(FrameOutput output)
    {
        if (!output.TryBeginFlush())
        {
            return;
        }

        bool requests;
        lock (_gate)
        {
            _unflushed.Add(output);

            // The continuation that sends may block next.
            requests = !_requested;
            _requested = true;
        }

        if (requests)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        List<FrameOutput>? flushes = null;
        long flushed = MonotonicClock.Nanoseconds;
        lock (_gate)
        {
            _requested = false;
        }

        // A work item that begins while another one runs a continuation flushes for it: that continuation may block.
        bool flushIsDue = true;
        while (true)
        {
            CompletedReply? next;
            bool requests = false;
            lock (_gate)
            {
                next = _first;
                bool isLast = next?.NextCompleted is null;
                if (next is not null)
                {
                    _first = next.NextCompleted;
                    next.NextCompleted = null;
                    if (_first is null)
                    {
                        _last = null;
                    }
                }

                if ((isLast || flushIsDue) && _unflushed.Count != 0)
                {
                    flushes ??= [];
                    flushes.AddRange(_unflushed);
                    _unflushed.Clear();
                }

                if (!isLast)
                {
                    requests = !_requested;
                    _requested = true;
                }

                _running = isLast ? null : this;
            }

            if (flushes is { Count: > 0 })
            {
                foreach (FrameOutput output in flushes)
                {
                    output.EndFlush();
                }

                flushes.Clear();
            }

            if (next is null)
            {
                return;
            }

            if (requests)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
            }

            next.Resume();
            NoContext.Restore();
            long now = MonotonicClock.Nanoseconds;
            flushIsDue = now - flushed > FlushAfterNanoseconds;
            if (flushIsDue)
            {
                flushed = now;
            }
        }
    }
}

/// <summary>A reply that has arrived and whose caller has not been resumed.</summary>
internal abstract class CompletedReply : PendingReply
{
    /// <summary>The next one in the queue.</summary>
    internal CompletedReply? NextCompleted { get; set; }

    /// <summary>Resumes the caller on this thread.</summary>
    internal abstract void Resume();
}
