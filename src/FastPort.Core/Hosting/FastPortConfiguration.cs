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
    public static FastPortServerOptions BindServer(IConfiguration configuration) => Bind(configuration, BindServer);

    /// <summary>Reads and validates section <c>LatencyStats</c>.</summary>
    /// <param name="configuration">The configuration's root.</param>
    /// <exception cref="FastPortOptionsException">Keys are unknown, or values unreadable or out of range.</exception>
    public static LatencyStatsOptions BindLatencyStats(IConfiguration configuration) => Bind(configuration, BindLatencyStats);

    /// <summary>Reads section <c>FastPort</c>, and adds its problems to those of other sections.</summary>
    internal static FastPortServerOptions BindServer(IConfiguration configuration, ICollection<string> problems) =>
        Read<FastPortServerOptions>(configuration, FastPortServerOptions.SectionName, problems);

    /// <summary>Reads section <c>LatencyStats</c>, and adds its problems to those of other sections.</summary>
    internal static LatencyStatsOptions BindLatencyStats(IConfiguration configuration, ICollection<string> problems) =>
        Read<LatencyStatsOptions>(configuration, LatencyStatsOptions.SectionName, problems);

    private static TOptions Bind<TOptions>(IConfiguration configuration, Func<IConfiguration, ICollection<string>, TOptions> read)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        List<string> problems = [];
        TOptions options = read(configuration, problems);
        return problems.Count == 0 ? options : throw new FastPortOptionsException(problems);
    }

    private static TOptions Read<TOptions>(IConfiguration configuration, string section, ICollection<string> problems)
        where TOptions : IDescribedOptions, new()
    {
        var options = new TOptions();
        OptionSection.Visit(section, problems, configuration.GetSection(section), options.Describe);
        return options;
    }
}
