using FastPort.Client.Load;
using FastPort.Client.Reports;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Client.Tests.Load;

/// <summary>Runs a load without files, its output kept.</summary>
internal sealed class TestRun
{
    public static readonly LoadSettings Short = new()
    {
        Connections = 2,
        InFlight = 4,
        Duration = TimeSpan.FromMilliseconds(200),
        WarmUp = TimeSpan.FromMilliseconds(50),
    };

    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    public StringWriter Output { get; } = new();

    public async Task<LoadResult> RunAsync(LoadSettings settings, CancellationToken interrupted = default)
    {
        IConfigurationRoot configuration = new ConfigurationBuilder()
            .AddInMemoryCollection([new("LatencyStats:EnableFileOutput", "false")])
            .Build();
        var options = LoadOptions.Read(configuration, settings, []);
        return await new LoadRun(settings, options, NullLoggerFactory.Instance, Output, null).RunAsync(interrupted)
            .WaitAsync(Patience, CancellationToken.None);
    }

    /// <summary>
    /// Runs again, for twice as long each time, until there is enough to look at. A virtual machine may keep one of its cores to itself for
    /// longer than a short run takes, with a loop waiting for that core.
    /// </summary>
    public async Task<LoadResult> RunUntilAsync(LoadSettings settings, Predicate<LoadResult> enough)
    {
        while (true)
        {
            LoadResult result = await RunAsync(settings);
            if (enough(result) || settings.Duration > Patience / 8)
            {
                return result;
            }

            settings = settings with { Duration = settings.Duration * 2 };
        }
    }
}
