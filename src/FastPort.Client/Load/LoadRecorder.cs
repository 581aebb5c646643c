using System.Diagnostics;
using FastPort.Protocol.Diagnostics;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// Records replies while the measurement goes on. <see cref="LatencyStats"/> is striped by processor, so loops do not meet here.
/// Thread-safe.
/// </summary>
internal sealed class LoadRecorder(LatencyStats stats, LoadErrors errors)
{
    private readonly LatencySeries _series = stats.ForType(DiagnosticType.Echo);
    private volatile bool _on = true;
    private long _dueFrom;
    private long _dueTo = long.MaxValue;

    public LatencyStats Stats { get; } = stats;

    public LoadErrors Errors { get; } = errors;

    /// <summary>
    /// Forgets the warm-up: the measured time begins. In the open loop it begins a moment later, so that no request which is due in it can have been
    /// answered before it began.
    /// </summary>
    /// <returns>When it begins, in monotonic nanoseconds.</returns>
    public long Begin(bool openLoop)
    {
        if (!openLoop)
        {
            Stats.StartMeasuring();
            return LoadClock.Nanoseconds;
        }

        Volatile.Write(ref _dueFrom, long.MaxValue);
        Stats.StartMeasuring();
        long from;
        do
        {
            from = LoadClock.Nanoseconds + 1_000_000;
            Volatile.Write(ref _dueFrom, from);
        }
        while (LoadClock.Nanoseconds >= from);
        return from;
    }

    /// <summary>The measured time is over. In the open loop what was due before still counts when its reply comes.</summary>
    /// <returns>When it ended, in monotonic nanoseconds.</returns>
    public long End(bool openLoop)
    {
        _on = openLoop;
        long to = LoadClock.Nanoseconds;
        Volatile.Write(ref _dueTo, to);
        return to;
    }

    /// <summary>Records the reply of a closed loop's request.</summary>
    public void Record(scoped in InboundReply reply, PendingReply request)
    {
        if (_on)
        {
            Record(in reply, request.StartedNanoseconds);
        }
    }

    /// <summary>Records the reply of an open loop's request, if that was due within the measured time.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="due">When the request was due, in monotonic nanoseconds.</param>
    public void RecordDue(scoped in InboundReply reply, long due)
    {
        if (due >= Volatile.Read(ref _dueFrom) && due < Volatile.Read(ref _dueTo))
        {
            Record(in reply, due);
        }
    }

    public void RecordError(LoadErrorKind kind, string message, long count = 1)
    {
        Errors.Add(kind, message, count);
        for (long i = 0; i < count; i++)
        {
            _series.RecordError();
        }
    }

    private void Record(scoped in InboundReply reply, long started)
    {
        long roundTrip = reply.ReceivedNanoseconds - started;
        if (reply.Header.TimingSize == 0)
        {
            _series.RecordRoundTrip(roundTrip);
        }
        else
        {
            // The stats' timestamps count ticks; where a tick is a nanosecond the reply's own time saves a reading of the clock.
            _series.RecordRoundTrip(roundTrip, reply.Timing.ServerNanoseconds, Stopwatch.Frequency == 1_000_000_000 ? reply.ReceivedNanoseconds : 0);
        }
    }
}
