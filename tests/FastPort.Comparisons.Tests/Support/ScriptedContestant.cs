using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Tests.Support;

/// <summary>One whose runs are written down beforehand: null is a run that fails.</summary>
internal sealed class ScriptedContestant(string name, params Figures?[] runs) : IContestant
{
    private int _next;

    public string Name => name;

    /// <summary>Why it cannot take part. Defaults to null: it can.</summary>
    public string? Lacks { get; init; }

    /// <summary>Takes the name at each start and each run.</summary>
    public List<string>? Turns { get; init; }

    public bool IsDisposed { get; private set; }

    public string? Missing() => Lacks;

    public Task StartAsync(CancellationToken cancellation)
    {
        Turns?.Add($"start {name}");
        return Task.CompletedTask;
    }

    public Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        Turns?.Add($"run {name}");
        Figures? run = runs[_next++];
        return run is null ? Task.FromException<Figures>(new ComparisonException($"run {_next} was cut")) : Task.FromResult(run);
    }

    public void Dispose() => IsDisposed = true;
}
