namespace FastPort.Comparisons.Measuring;

/// <summary>Another contestant whose messages also count in another unit, so that those who count in it can be divided by it.</summary>
/// <param name="inner">The contestant; owned by this one.</param>
/// <param name="unit">The unit.</param>
/// <param name="perMessage">How much of it a message is.</param>
internal sealed class ConvertedContestant(IContestant inner, Metric unit, double perMessage) : IContestant
{
    public string Name => inner.Name;

    public string? Missing() => inner.Missing();

    public Task StartAsync(CancellationToken cancellation) => inner.StartAsync(cancellation);

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        Figures figures = await inner.MeasureAsync(cancellation);
        figures[unit] = figures[Metric.Throughput] * perMessage;
        return figures;
    }

    public void Dispose() => inner.Dispose();
}
