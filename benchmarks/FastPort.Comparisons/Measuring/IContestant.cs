namespace FastPort.Comparisons.Measuring;

/// <summary>
/// One who takes part in a workload: started, warmed, measured, then ended. Where each run has new processes, it is started again after its
/// end.
/// </summary>
internal interface IContestant : IDisposable
{
    /// <summary>Name in the tables, unique in the workload.</summary>
    string Name { get; }

    /// <summary>Why it cannot take part, or null where it can.</summary>
    string? Missing();

    /// <summary>Starts its processes and warms them with the very load that follows.</summary>
    Task StartAsync(CancellationToken cancellation);

    /// <summary>One run.</summary>
    /// <exception cref="Comparisons.ComparisonException">It failed; the contestant is out.</exception>
    Task<Figures> MeasureAsync(CancellationToken cancellation);
}
