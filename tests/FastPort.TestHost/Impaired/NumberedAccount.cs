namespace FastPort.TestHost.Impaired;

/// <summary>What has become of a client's messages. Thread-safe until the comparison.</summary>
internal sealed class NumberedAccount
{
    private readonly Lock _gate = new();
    private long _answered;
    private long _wrong;
    private long _lost;
    private long _otherwise;
    private long _posted;
    private long _smallestMicroseconds = long.MaxValue;
    private long _numbers;
    private long _never;
    private long _again;
    private long _invented;

    /// <summary>Replies whose request was over.</summary>
    public long RepliesToNothing { get; set; }

    public void Answered(TimeSpan roundTrip, bool isRight)
    {
        lock (_gate)
        {
            _answered++;
            _wrong += isRight ? 0 : 1;
            _smallestMicroseconds = Math.Min(_smallestMicroseconds, (long)roundTrip.TotalMicroseconds);
        }
    }

    /// <summary>A request failed: with its connection, or for another reason, of which there is none here.</summary>
    public void Failed(bool withConnection)
    {
        lock (_gate)
        {
            _lost += withConnection ? 1 : 0;
            _otherwise += withConnection ? 0 : 1;
        }
    }

    public void Posted()
    {
        lock (_gate)
        {
            _posted++;
        }
    }

    /// <summary>Compares with what the server has handled.</summary>
    /// <param name="wasAnswered">Whether each number was answered.</param>
    /// <param name="times">How often the server has handled each number; none behind the end.</param>
    public void Compare(IReadOnlyList<bool> wasAnswered, IReadOnlyList<byte> times)
    {
        _numbers = wasAnswered.Count;
        _never = _again = _invented = 0;
        for (int number = 0; number < Math.Max(wasAnswered.Count, times.Count); number++)
        {
            int handled = number < times.Count ? times[number] : 0;
            _never += handled == 0 ? 1 : 0;
            _again += handled > 1 ? 1 : 0;
            _invented += number >= wasAnswered.Count || (wasAnswered[number] && handled == 0) ? 1 : 0;
        }
    }

    /// <summary>The accounts of all clients together.</summary>
    public static string Figures(IReadOnlyList<NumberedAccount> all) =>
        $"numbers={all.Sum(static a => a._numbers)} answered={all.Sum(static a => a._answered)} wrong={all.Sum(static a => a._wrong)} "
        + $"lost={all.Sum(static a => a._lost)} otherwise={all.Sum(static a => a._otherwise)} posted={all.Sum(static a => a._posted)} "
        + $"never={all.Sum(static a => a._never)} again={all.Sum(static a => a._again)} invented={all.Sum(static a => a._invented)} "
        + $"repliesToNothing={all.Sum(static a => a.RepliesToNothing)} smallest={all.Min(static a => a._smallestMicroseconds)}";
}
