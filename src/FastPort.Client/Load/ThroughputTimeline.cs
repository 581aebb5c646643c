namespace FastPort.Client.Load;

/// <summary>A stretch of the measured time of a one-way load. Immutable.</summary>
/// <param name="Start">From the beginning of the measured time.</param>
/// <param name="Length">Its length.</param>
/// <param name="Messages">Messages in it.</param>
/// <param name="Errors">Errors in it.</param>
internal sealed record ThroughputColumn(TimeSpan Start, TimeSpan Length, long Messages, long Errors);

/// <summary>
/// The messages and errors of a one-way load over the measured time, sampled once a second. In at most <see cref="MaxColumns"/> columns:
/// when these are full, neighbors are merged, and columns are twice as long from then on. <see cref="_gate"/> guards the columns.
/// </summary>
internal sealed class ThroughputTimeline
{
    /// <summary>Maximum number of columns. Even, because full columns are merged in pairs.</summary>
    internal const int MaxColumns = 600;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Func<long> _messages;
    private readonly Func<long> _errors;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly List<ThroughputColumn> _columns = [];
    private readonly long _begun;
    private readonly ITimer _timer;
    private TimeSpan _end;
    private long _lastMessages;
    private long _lastErrors;

    // Samples of a whole column, and those that the last column has.
    private int _samplesPerColumn = 1;
    private int _samples;
    private bool _interrupted;

    /// <summary>Begins: the measured time begins.</summary>
    /// <param name="before">Messages until now, which belong to no column.</param>
    /// <param name="messages">Messages so far.</param>
    /// <param name="errors">Errors so far.</param>
    /// <param name="time">The clock.</param>
    public ThroughputTimeline(long before, Func<long> messages, Func<long> errors, TimeProvider time)
    {
        (_messages, _errors, _time) = (messages, errors, time);
        (_begun, _lastMessages, _lastErrors) = (time.GetTimestamp(), before, errors());
        _timer = time.CreateTimer(static timeline => ((ThroughputTimeline)timeline!).Tick(), this, Interval, Interval);
    }

    /// <summary>Number of times that no message came for a second or longer. Read after the end.</summary>
    public long Interruptions { get; private set; }

    /// <summary>How long <see cref="Interruptions"/> lasted in all.</summary>
    public TimeSpan InterruptedTime { get; private set; }

    /// <summary>The measured time ends. Returns its columns. Call once.</summary>
    public IReadOnlyList<ThroughputColumn> End()
    {
        _timer.Dispose();
        lock (_gate)
        {
            // The rest is short: a separate column would show a meaningless rate.
            Sample(joins: _columns.Count != 0 && _time.GetElapsedTime(_begun) - _end < Interval / 4);
            return [.. _columns];
        }
    }

    private void Tick()
    {
        lock (_gate)
        {
            CountInterruption(Sample(joins: _columns.Count != 0 && _samples < _samplesPerColumn));
        }
    }

    private void CountInterruption(ThroughputColumn second)
    {
        bool goesOn = _interrupted;
        _interrupted = second.Messages == 0;
        if (_interrupted)
        {
            Interruptions += goesOn ? 0 : 1;
            InterruptedTime += second.Length;
        }
    }

    private ThroughputColumn Sample(bool joins)
    {
        TimeSpan now = _time.GetElapsedTime(_begun);
        (long messages, long errors) = (_messages(), _errors());
        var since = new ThroughputColumn(_end, now - _end, messages - _lastMessages, errors - _lastErrors);
        (_end, _lastMessages, _lastErrors) = (now, messages, errors);
        if (joins)
        {
            _columns[^1] = Merge(_columns[^1], since);
            _samples++;
            return since;
        }

        if (_columns.Count == MaxColumns)
        {
            for (int i = 0; i < MaxColumns / 2; i++)
            {
                _columns[i] = Merge(_columns[2 * i], _columns[(2 * i) + 1]);
            }

            _columns.RemoveRange(MaxColumns / 2, MaxColumns / 2);
            _samplesPerColumn *= 2;
        }

        _columns.Add(since);
        _samples = 1;
        return since;
    }

    private static ThroughputColumn Merge(ThroughputColumn a, ThroughputColumn b) =>
        new(a.Start, a.Length + b.Length, a.Messages + b.Messages, a.Errors + b.Errors);
}
