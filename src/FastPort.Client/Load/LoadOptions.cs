using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;

namespace FastPort.Client.Load;

/// <summary>The options of a load run from configuration.</summary>
/// <param name="Stats">Section <c>LatencyStats</c>.</param>
/// <param name="Server">Section <c>FastPort</c>, for the server that the run hosts; null if the run hosts none.</param>
internal sealed record LoadOptions(LatencyStatsOptions Stats, FastPortServerOptions? Server)
{
    /// <summary>Reads the sections that the run needs.</summary>
    /// <param name="configuration">The program's configuration.</param>
    /// <param name="settings">The settings of the run.</param>
    /// <param name="problems">The problems that are known already.</param>
    /// <exception cref="FastPortOptionsException">The configuration is wrong; the message names all problems of all sections.</exception>
    public static LoadOptions Read(IConfiguration configuration, LoadSettings settings, IEnumerable<string> problems)
    {
        List<string> all = [.. problems];
        LatencyStatsOptions stats = FastPortConfiguration.BindLatencyStats(configuration, all);
        FastPortServerOptions? server = settings.Server is null ? FastPortConfiguration.BindServer(configuration, all) : null;
        return all.Count == 0 ? new LoadOptions(stats, server) : throw new FastPortOptionsException(all);
    }
}
