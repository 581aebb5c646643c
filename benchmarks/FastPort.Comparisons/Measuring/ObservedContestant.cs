using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>What looks at a server while it is measured.</summary>
/// <param name="Pages">Readers of the dashboard's event stream.</param>
/// <param name="IsScraped">Whether its metrics are scraped once a second.</param>
/// <param name="ExportPort">Where it exports metrics to over OTLP and HTTP; null where it does not.</param>
internal sealed record Watchers(int Pages, bool IsScraped, int? ExportPort);

/// <summary>
/// A contestant whose server is looked at while it is measured, and at no other time. The readers are tasks of this process, which is not
/// pinned: their time is not the server's.
/// </summary>
/// <param name="observed">The contestant.</param>
/// <param name="dashboard">The URL of the server's dashboard; null if it has none.</param>
/// <param name="watchers">What looks at it.</param>
internal sealed class ObservedContestant(IContestant observed, Uri? dashboard, Watchers watchers) : IContestant
{
    private OtlpSink? _exported;
    private HttpClient? _http;

    public string Name => observed.Name;

    public string? Missing() => observed.Missing();

    public Task StartAsync(CancellationToken cancellation)
    {
        _http = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { BaseAddress = dashboard };
        _exported = watchers.ExportPort is { } port ? new OtlpSink(port) : null;
        return observed.StartAsync(cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        List<Task> watching = [.. Enumerable.Range(0, watchers.Pages).Select(_ => ReadEventsAsync(ending.Token))];
        if (watchers.IsScraped)
        {
            watching.Add(ScrapeAsync(ending.Token));
        }

        try
        {
            Figures figures = await observed.MeasureAsync(cancellation);
            return _exported is { Exports: 0 }
                ? throw new ComparisonException($"{Name}: the server has exported nothing over OTLP.")
                : figures;
        }
        finally
        {
            await ending.CancelAsync();
            await Task.WhenAll(watching);
        }
    }

    public void Dispose()
    {
        observed.Dispose();
        _exported?.Dispose();
        _http?.Dispose();
    }

    // Until the run ends. A watcher that fails is a failure of the run: it would have measured less than it says.
    private async Task ReadEventsAsync(CancellationToken ending)
    {
        byte[] buffer = new byte[64 * 1024];
        await WatchAsync(
            async () =>
            {
                await using Stream events = await _http!.GetStreamAsync(new Uri("/events", UriKind.Relative), ending);
                while (await events.ReadAsync(buffer, ending) != 0)
                {
                    // Read as a browser reads.
                }

                throw new ComparisonException($"{Name}: the server ended its event stream.");
            },
            ending);
    }

    private Task ScrapeAsync(CancellationToken ending) => WatchAsync(
        async () =>
        {
            using var second = new PeriodicTimer(TimeSpan.FromSeconds(1));
            do
            {
                await _http!.GetByteArrayAsync(new Uri("/metrics", UriKind.Relative), ending);
            }
            while (await second.WaitForNextTickAsync(ending));
        },
        ending);

    private async Task WatchAsync(Func<Task> watch, CancellationToken ending)
    {
        try
        {
            await watch();
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // The run has ended.
        }
        catch (HttpRequestException e) when (!ending.IsCancellationRequested)
        {
            throw new ComparisonException($"{Name}: its dashboard does not answer: {e.Message}", e);
        }
        catch (Exception) when (ending.IsCancellationRequested)
        {
            // The stream was cut by the end of the run.
        }
    }
}
