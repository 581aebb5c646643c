namespace FastPort.Client.Load;

/// <summary>
/// What went wrong in a run, by kind, with the first sentence of each. Thread-safe; errors are rare, so one lock guards all.
/// </summary>
internal sealed class LoadErrors
{
    private readonly Lock _gate = new();
    private readonly long[] _counts = new long[Enum.GetValues<LoadErrorKind>().Length];
    private readonly string?[] _first = new string?[Enum.GetValues<LoadErrorKind>().Length];

    /// <summary>Errors of all kinds.</summary>
    public long Total
    {
        get
        {
            lock (_gate)
            {
                return _counts.Sum();
            }
        }
    }

    public long this[LoadErrorKind kind]
    {
        get
        {
            lock (_gate)
            {
                return _counts[(int)kind];
            }
        }
    }

    public void Add(LoadErrorKind kind, string message, long count = 1)
    {
        lock (_gate)
        {
            _counts[(int)kind] += count;
            _first[(int)kind] ??= message;
        }
    }

    /// <summary>The kinds that happened, with count and first sentence.</summary>
    public IReadOnlyList<(LoadErrorKind Kind, long Count, string First)> List()
    {
        lock (_gate)
        {
            return [.. Enum.GetValues<LoadErrorKind>().Where(k => _counts[(int)k] != 0).Select(k => (k, _counts[(int)k], _first[(int)k]!))];
        }
    }
}

/// <summary>Kinds of errors of a run.</summary>
internal enum LoadErrorKind
{
    /// <summary>In flight when the connection was lost.</summary>
    Lost,

    /// <summary>Answered with an error.</summary>
    ErrorReply,

    /// <summary>A reply, count or pushed message is not what was asked for.</summary>
    Wrong,

    /// <summary>Not answered when the run had ended and its drain time was over.</summary>
    Unanswered,
}
