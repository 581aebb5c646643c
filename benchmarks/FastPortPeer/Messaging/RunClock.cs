using System.Diagnostics;

namespace FastPortPeer.Messaging;

/// <summary>When a run's phases begin and end, and what they cost. Begins when it is made; not thread-safe.</summary>
internal sealed class RunClock(double leadInSeconds, double measuredSeconds)
{
    private readonly long _measureFrom = Stopwatch.GetTimestamp() + (long)(leadInSeconds * Stopwatch.Frequency);
    private readonly long _measuredTicks = (long)(measuredSeconds * Stopwatch.Frequency);
    private long _begun;
    private long _ended;
    private TimeSpan _cpu;

    public MessagePhase Phase { get; private set; }

    /// <summary>Messages before the measured ones.</summary>
    public long LeadInMessages { get; private set; }

    /// <summary>
    /// Looks at the time: the phase of message <paramref name="number"/>. At least one message is measured, however late it is.
    /// </summary>
    public MessagePhase Advance(long timestamp, long number)
    {
        if (Phase == MessagePhase.LeadIn && timestamp >= _measureFrom)
        {
            Phase = MessagePhase.Measured;
            LeadInMessages = number;
            _begun = timestamp;
            _cpu = ProcessFigures.OwnCpu;
        }
        else if (Phase == MessagePhase.Measured && timestamp - _begun >= _measuredTicks)
        {
            Phase = MessagePhase.Last;
            _ended = timestamp;
            _cpu = ProcessFigures.OwnCpu - _cpu;
        }

        return Phase;
    }

    /// <summary>The result, once the phase is <see cref="MessagePhase.Last"/>.</summary>
    /// <param name="messages">Messages sent, the last not counted.</param>
    public SideResult Result(long messages) => new()
    {
        Side = "server",
        Messages = messages - LeadInMessages,
        Seconds = (_ended - _begun) / (double)Stopwatch.Frequency,
        CpuS = _cpu.TotalSeconds,
    };
}
