using System.Diagnostics;

namespace FastPort.Tags.Serving;

/// <summary>A tag of a Write request.</summary>
internal readonly record struct WriteItem(WriteRequest Request, int Row, ServedTag Tag);

/// <summary>A Write request, whose items are written when earlier writes of their tags have ended.</summary>
internal sealed class WriteRequest(TagSamples samples, int count)
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();
    private readonly TagStatus[] _statuses = new TagStatus[count];
    private readonly bool[] _ended = new bool[count];
    private int _left = count;

    /// <summary>The activity of the requester, null for none: it is the parent of the source's.</summary>
    public Activity? Cause { get; } = Activity.Current;

    /// <summary>The rows to write.</summary>
    public TagSamples Samples => samples;

    /// <summary>All items have ended, including abandoned ones.</summary>
    public Task Done => _done.Task;

    /// <summary>Whether the requester was notified that an item has timed out: it is then not written.</summary>
    public bool IsGivenUp { get; private set; }

    /// <summary>Whether an item has ended, of those that no writer has taken.</summary>
    public bool HasEnded(int row) => _ended[row];

    /// <summary>An item has ended, or will not begin. It keeps a status that it has.</summary>
    public void End(int row, TagStatus status)
    {
        lock (_gate)
        {
            if (_ended[row])
            {
                return;
            }

            _ended[row] = true;
            _statuses[row] = IsGivenUp ? _statuses[row] : status;
            if (--_left != 0)
            {
                return;
            }
        }

        _done.TrySetResult();
    }

    /// <summary>The current statuses. Items without one are abandoned, and get the given status.</summary>
    public TagStatus[] Settle(TagStatus missing)
    {
        lock (_gate)
        {
            IsGivenUp = _left != 0;
            for (int i = 0; i < _statuses.Length; i++)
            {
                _statuses[i] = _ended[i] ? _statuses[i] : missing;
            }

            return _statuses;
        }
    }
}
