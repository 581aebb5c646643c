using System.Diagnostics;
using FastPort.Protocol;
using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// Records replies during the measurement. Throughput and latencies have separate filters. Messages answered within the measured time count
/// as served. Latencies of a closed loop are those of the same messages, those of an open loop of the messages that were due within the
/// measured time, even if the answer comes after it. <see cref="LatencyStats"/> is striped by processor, so loops do not contend here.
/// Thread-safe.
/// </summary>
/// <param name="stats">Records the latencies.</param>
/// <param name="errors">Records the errors.</param>
/// <param name="measureSessions">Whether the latencies of each connection are measured.</param>
internal sealed class LoadRecorder(LatencyStats stats, LoadErrors errors, bool measureSessions)
{
    private readonly LatencySeries _series = stats.ForType(DiagnosticType.Echo);
    private long _from;
    private long _to = long.MaxValue;

    // Messages served in the measured time whose latencies do not count, less those whose latencies count but that were served later: a
    // few at either end of the measured time.
    private long _servedWithoutLatency;

    public LatencyStats Stats { get; } = stats;

    public LoadErrors Errors { get; } = errors;

    /// <summary>The times without a reply.</summary>
    public Interruptions Interruptions { get; } = new();

    /// <summary>The latency series of a connection, shared by all of its sessions; null if it is not measured.</summary>
    /// <param name="number">The connection's number, from 0; reports count from 1.</param>
    public LatencySeries? ForConnection(int number) => measureSessions ? Stats.ForSession((ulong)number + 1) : null;

    /// <summary>
    /// Discards the warm-up: the measured time begins, a millisecond later, so that no reply of the measured time is handled before.
    /// </summary>
    /// <param name="schedule">The messages of an open loop; null in the closed loop.</param>
    /// <returns>When the measured time begins, in monotonic nanoseconds.</returns>
    public long Begin(SendSchedule? schedule)
    {
        Errors.EndWarmUp();

        // The reset of many sessions takes time; replies during it count as warm-up in all series.
        Volatile.Write(ref _from, long.MaxValue);
        Stats.StartMeasuring();
        long from;
        do
        {
            from = MonotonicClock.Nanoseconds + 1_000_000;
            Volatile.Write(ref _from, from);
        }
        while (MonotonicClock.Nanoseconds >= from);
        Interruptions.Begin(from, schedule);
        return from;
    }

    /// <summary>Ends the measured time, also that of the statistics: the drain has no part in it.</summary>
    /// <returns>When the measured time ended, in monotonic nanoseconds.</returns>
    public long End()
    {
        long to = Math.Max(Volatile.Read(ref _from), MonotonicClock.Nanoseconds);
        Volatile.Write(ref _to, to);
        Interruptions.End(to);

        // Last: a report in progress delays it.
        Stats.StopMeasuring();
        return to;
    }

    /// <summary>The messages served within the measured time.</summary>
    /// <param name="latencies">The latencies that were recorded since its beginning.</param>
    public long Served(long latencies) => latencies + Interlocked.Read(ref _servedWithoutLatency);

    /// <summary>Records the reply to a request of the closed loop.</summary>
    public void Record(scoped in InboundReply reply, PendingReply request, LatencySeries? connection)
    {
        if (IsMeasured(reply.ReceivedNanoseconds))
        {
            Interruptions.OnReply(reply.ReceivedNanoseconds);
            Record(in reply, request.StartedNanoseconds, connection);
        }
    }

    /// <summary>Records the reply to a request of the open loop.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="due">When the request was due, in monotonic nanoseconds.</param>
    /// <param name="connection">The connection's latency series.</param>
    public void RecordDue(scoped in InboundReply reply, long due, LatencySeries? connection)
    {
        bool served = IsMeasured(reply.ReceivedNanoseconds);
        bool hasLatency = IsMeasured(due);
        if (served)
        {
            Interruptions.OnReply(reply.ReceivedNanoseconds);
        }

        if (hasLatency)
        {
            Record(in reply, due, connection);
        }

        if (served != hasLatency)
        {
            Interlocked.Add(ref _servedWithoutLatency, served ? 1 : -1);
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

    private bool IsMeasured(long nanoseconds) => nanoseconds >= Volatile.Read(ref _from) && nanoseconds < Volatile.Read(ref _to);

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
