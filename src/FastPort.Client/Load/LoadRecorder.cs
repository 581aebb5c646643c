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

    public LatencyStats Stats { get; } = stats;

    public LoadErrors Errors { get; } = errors;

    /// <summary>The measured time is over: what comes in later is no part of it.</summary>
    public void Stop() => _on = false;

    /// <summary>Records a good reply.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="started">When the request was sent (closed loop) or ought to have been (open loop), in monotonic nanoseconds.</param>
    public void Record(scoped in InboundReply reply, long started)
    {
        if (!_on)
        {
            return;
        }

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

    public void RecordError(LoadErrorKind kind, string message, long count = 1)
    {
        Errors.Add(kind, message, count);
        for (long i = 0; i < count; i++)
        {
            _series.RecordError();
        }
    }
}
