using System.Diagnostics;
using FastPort.Protocol.Diagnostics;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// Records replies during the measurement. <see cref="LatencyStats"/> is striped by processor, so loops do not contend here. Thread-safe.
/// </summary>
/// <param name="stats">Records the latencies.</param>
/// <param name="errors">Records the errors.</param>
/// <param name="measureSessions">Whether the latencies of each connection are measured.</param>
internal sealed class LoadRecorder(LatencyStats stats, LoadErrors errors, bool measureSessions)
{
    private readonly LatencySeries _series = stats.ForType(DiagnosticType.Echo);
    private volatile bool _on = true;
    private long _dueFrom;
    private long _dueTo = long.MaxValue;

    public LatencyStats Stats { get; } = stats;

    public LoadErrors Errors { get; } = errors;

    /// <summary>The latency series of a connection, shared by all of its sessions; null if it is not measured.</summary>
    /// <param name="number">The connection's number, from 0; reports count from 1.</param>
    public LatencySeries? ForConnection(int number) => measureSessions ? Stats.ForSession((ulong)number + 1) : null;

    /// <summary>
    /// Discards the warm-up: the measured time begins. In the open loop it begins 1 ms later, so that no request that is due in it was
    /// answered before it began.
    /// </summary>
    /// <returns>When the measured time begins, in monotonic nanoseconds.</returns>
    public long Begin(bool openLoop)
    {
        Errors.EndWarmUp();
        if (!openLoop)
        {
            // The reset of many sessions takes time; replies during it count as warm-up in all series.
            _on = false;
            Stats.StartMeasuring();
            _on = true;
            return MonotonicClock.Nanoseconds;
        }

        Volatile.Write(ref _dueFrom, long.MaxValue);
        Stats.StartMeasuring();
        long from;
        do
        {
            from = MonotonicClock.Nanoseconds + 1_000_000;
            Volatile.Write(ref _dueFrom, from);
        }
        while (MonotonicClock.Nanoseconds >= from);
        return from;
    }

    /// <summary>
    /// Ends the measured time, also that of the statistics: the drain has no part in it. In the open loop a request that was due before
    /// still counts when its reply arrives.
    /// </summary>
    /// <returns>When the measured time ended, in monotonic nanoseconds.</returns>
    public long End(bool openLoop)
    {
        _on = openLoop;
        long to = MonotonicClock.Nanoseconds;
        Volatile.Write(ref _dueTo, to);

        // Last: a report that is being made holds it up.
        Stats.StopMeasuring();
        return to;
    }

    /// <summary>Records the reply to a request of the closed loop.</summary>
    public void Record(scoped in InboundReply reply, PendingReply request, LatencySeries? connection)
    {
        if (_on)
        {
            Record(in reply, request.StartedNanoseconds, connection);
        }
    }

    /// <summary>Records the reply to a request of the open loop, if the request was due within the measured time.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="due">When the request was due, in monotonic nanoseconds.</param>
    /// <param name="connection">The connection's latency series.</param>
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
            // The timestamps of the statistics count ticks; if a tick is a nanosecond, the reply's time saves a clock reading.
            long serverTime = reply.Timing.ServerNanoseconds;
            _series.RecordRoundTrip(roundTrip, serverTime, Stopwatch.Frequency == 1_000_000_000 ? reply.ReceivedNanoseconds : 0);
            connection?.RecordRoundTrip(roundTrip, serverTime);
        }
    }
}
