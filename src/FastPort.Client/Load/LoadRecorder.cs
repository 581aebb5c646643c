using System.Diagnostics;
using FastPort.Protocol.Diagnostics;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// Records replies while the measurement goes on. <see cref="LatencyStats"/> is striped by processor, so loops do not contend here.
/// Thread-safe.
/// </summary>
/// <param name="stats">Where latencies go.</param>
/// <param name="errors">Where errors go.</param>
/// <param name="measureSessions">Whether each connection has latencies of its own.</param>
internal sealed class LoadRecorder(LatencyStats stats, LoadErrors errors, bool measureSessions)
{
    private readonly LatencySeries _series = stats.ForType(DiagnosticType.Echo);
    private volatile bool _on = true;
    private long _dueFrom;
    private long _dueTo = long.MaxValue;

    public LatencyStats Stats { get; } = stats;

    public LoadErrors Errors { get; } = errors;

    /// <summary>
    /// Where a connection's own latencies go; null where they are not measured. Its sessions, when it connects again, share it.
    /// </summary>
    /// <param name="number">The connection's number, from 0; reports count from 1.</param>
    public LatencySeries? ForConnection(int number) => measureSessions ? Stats.ForSession((ulong)number + 1) : null;

    /// <summary>
    /// Forgets the warm-up: the measured time begins. In the open loop it begins a moment later, so that no request which is due in it can
    /// have been answered before it began.
    /// </summary>
    /// <returns>When it begins, in monotonic nanoseconds.</returns>
    public long Begin(bool openLoop)
    {
        if (!openLoop)
        {
            // Many sessions take a while to be set back; what is answered meanwhile belongs to the warm-up everywhere.
            _on = false;
            Stats.StartMeasuring();
            _on = true;
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
    public void Record(scoped in InboundReply reply, PendingReply request, LatencySeries? connection)
    {
        if (_on)
        {
            Record(in reply, request.StartedNanoseconds, connection);
        }
    }

    /// <summary>Records the reply of an open loop's request, if that was due within the measured time.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="due">When the request was due, in monotonic nanoseconds.</param>
    /// <param name="connection">The connection's own latencies.</param>
    public void RecordDue(scoped in InboundReply reply, long due, LatencySeries? connection)
    {
        if (due >= Volatile.Read(ref _dueFrom) && due < Volatile.Read(ref _dueTo))
        {
            Record(in reply, due, connection);
        }
    }

    public void RecordError(LoadErrorKind kind, string message, LatencySeries? connection, long count = 1)
    {
        Errors.Add(kind, message, count);
        for (long i = 0; i < count; i++)
        {
            _series.RecordError();
            connection?.RecordError();
        }
    }

    private void Record(scoped in InboundReply reply, long started, LatencySeries? connection)
    {
        long roundTrip = reply.ReceivedNanoseconds - started;
        if (reply.Header.TimingSize == 0)
        {
            _series.RecordRoundTrip(roundTrip);
            connection?.RecordRoundTrip(roundTrip);
        }
        else
        {
            // The stats' timestamps count ticks; where a tick is a nanosecond the reply's own time saves a reading of the clock.
            long serverTime = reply.Timing.ServerNanoseconds;
            _series.RecordRoundTrip(roundTrip, serverTime, Stopwatch.Frequency == 1_000_000_000 ? reply.ReceivedNanoseconds : 0);
            connection?.RecordRoundTrip(roundTrip, serverTime);
        }
    }
}
