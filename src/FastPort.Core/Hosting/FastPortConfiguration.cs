using FastPort.Configuration;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;

namespace FastPort;

/// <summary>
/// Reads options from configuration. An unknown key or an invalid value is an error whose message names it and the allowed values.
/// </summary>
public static class FastPortConfiguration
{
    /// <summary>Reads and validates section <c>FastPort</c>.</summary>
    /// <param name="configuration">The configuration's root.</param>
    /// <exception cref="FastPortOptionsException">Keys are unknown, or values unreadable or out of range.</exception>
    public static FastPortServerOptions BindServer(IConfiguration configuration)
    {
        var options = new FastPortServerOptions();
        Read(configuration, FastPortServerOptions.SectionName, options.Describe);
        return options;
    }

    /// <summary>Reads and validates section <c>LatencyStats</c>.</summary>
    /// <param name="configuration">The configuration's root.</param>
    /// <exception cref="FastPortOptionsException">Keys are unknown, or values unreadable or out of range.</exception>
    public static LatencyStatsOptions BindLatencyStats(IConfiguration configuration)
    {
        var options = new LatencyStatsOptions();
        Read(configuration, LatencyStatsOptions.SectionName, options.Describe);
        return options;
    }

    private static void Read(IConfiguration configuration, string section, Action<OptionSection> describe)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        List<string> problems = [];
        OptionSection.Visit(section, problems, configuration.GetSection(section), describe);
        if (problems.Count != 0)
        {
            throw new FastPortOptionsException(problems);
        }
    }
}
