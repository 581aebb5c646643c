namespace FastPort.Client.Reports;

/// <summary>Shows the progress once a second, until it is disposed.</summary>
internal sealed class ProgressReporter : IAsyncDisposable
{
    private readonly StatusLine _line;
    private readonly Func<IReadOnlyList<string>> _texts;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _ending = new();
    private readonly Task _task;

    private ProgressReporter(StatusLine line, Func<IReadOnlyList<string>> texts, TimeProvider time)
    {
        _line = line;
        _texts = texts;
        _time = time;
        _task = RunAsync();
    }

    /// <summary>Starts to show the progress; null if there is no status line.</summary>
    /// <param name="line">The status line.</param>
    /// <param name="texts">Returns the texts for <see cref="StatusLine.Show"/>; called by one thread at a time.</param>
    /// <param name="time">The clock.</param>
    public static ProgressReporter? Start(StatusLine? line, Func<IReadOnlyList<string>> texts, TimeProvider time) =>
        line is null ? null : new ProgressReporter(line, texts, time);

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync().ConfigureAwait(false);
        await _task.ConfigureAwait(false);
        _ending.Dispose();
        _line.Clear();
    }

    private async Task RunAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1), _time);
        try
        {
            while (await timer.WaitForNextTickAsync(_ending.Token).ConfigureAwait(false))
            {
                _line.Show(_texts());
            }
        }
        catch (OperationCanceledException)
        {
            // The work has ended.
        }
    }
}
