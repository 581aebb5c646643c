using FastPort.Client.Reports;

namespace FastPort.Client.Load;

/// <summary>
/// The errors of a run by kind, with the first message of each kind. Thread-safe; errors are rare, so one lock guards all fields.
/// </summary>
internal sealed class LoadErrors
{
    private readonly Lock _gate = new();
    private readonly long[] _counts = new long[Enum.GetValues<LoadErrorKind>().Length];
    private readonly string?[] _first = new string?[Enum.GetValues<LoadErrorKind>().Length];
    private long _duringWarmUp;

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

    /// <summary>Those of <see cref="Total"/> that came before the measured time.</summary>
    public long DuringWarmUp
    {
        get
        {
            lock (_gate)
            {
                return _duringWarmUp;
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

    /// <summary>Counts errors of a kind.</summary>
    /// <param name="kind">The kind.</param>
    /// <param name="message">What happened; it may contain texts of the server.</param>
    /// <param name="count">How many. Defaults to one.</param>
    public void Add(LoadErrorKind kind, string message, long count = 1)
    {
        lock (_gate)
        {
            _counts[(int)kind] += count;
            _first[(int)kind] ??= SafeText.Message(message);
        }
    }

    /// <summary>The measured time begins.</summary>
    public void EndWarmUp()
    {
        lock (_gate)
        {
            _duringWarmUp = _counts.Sum();
        }
    }

    /// <summary>The kinds with errors, with count and first message.</summary>
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
    /// <summary>The request was in flight when the connection was lost.</summary>
    Lost,

    /// <summary>The request was answered with an error.</summary>
    ErrorReply,

    /// <summary>A reply, count or message from the server is not the expected one.</summary>
    Wrong,

    /// <summary>The request was not answered within the drain timeout after the end of the run.</summary>
    Unanswered,

    /// <summary>The connection had no session when the measured time ended.</summary>
    Disconnected,
}
