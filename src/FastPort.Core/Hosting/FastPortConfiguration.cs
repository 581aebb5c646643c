using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;

namespace FastPort.Hosting;

/// <summary>Reads options from configuration; a key nobody knows or a value nobody can read is an error that names it.</summary>
public static class FastPortConfiguration
{
    /// <summary>Reads and checks section <c>FastPort</c>.</summary>
    /// <param name="configuration">The configuration's root.</param>
    /// <exception cref="FastPortOptionsException">A key is unknown, or a value unreadable or out of range.</exception>
    public static FastPortServerOptions BindServer(IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        IConfigurationSection section = configuration.GetSection(FastPortServerOptions.SectionName);
        List<string> unknown = [];
        KnownKeys.Check(unknown, section, typeof(FastPortServerOptions));
        KnownKeys.Check(unknown, section.GetSection(nameof(FastPortServerOptions.Session)), typeof(SessionOptions));
        KnownKeys.Check(unknown, section.GetSection(nameof(FastPortServerOptions.Routing)), typeof(RoutingOptions));
        Check(unknown);
        var options = new FastPortServerOptions();
        Guard(section, () => section.Bind(options));
        Check(options.Validate());
        return options;
    }

    /// <summary>Reads and checks section <c>LatencyStats</c>.</summary>
    /// <param name="configuration">The configuration's root.</param>
    /// <exception cref="FastPortOptionsException">A key is unknown, or a value unreadable or out of range.</exception>
    public static LatencyStatsOptions BindLatencyStats(IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        IConfigurationSection section = configuration.GetSection(LatencyStatsOptions.SectionName);
        List<string> unknown = [];
        KnownKeys.Check(unknown, section, typeof(LatencyStatsOptions));
        Check(unknown);
        var options = new LatencyStatsOptions();
        Guard(section, () => section.Bind(options));
        Check(options.Validate());
        return options;
    }

    private static void Guard(IConfigurationSection section, Action bind)
    {
        try
        {
            bind();
        }
        catch (InvalidOperationException e)
        {
            throw new FastPortOptionsException([$"{section.Path}: {e.Message}"]);
        }
    }

    private static void Check(IReadOnlyList<string> problems)
    {
        if (problems.Count != 0)
        {
            throw new FastPortOptionsException(problems);
        }
    }
}
