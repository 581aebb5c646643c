using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Serilog;

namespace FastPort.Programs.Hosting;

/// <summary>The log of the programs with a host.</summary>
internal static class HostLog
{
    /// <summary>Logs as section <c>Serilog</c> says. If the section cannot be used, the start names the problem.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The program's configuration.</param>
    /// <param name="dashboard">Receives the warnings and sets the level. Defaults to none.</param>
    public static void Add(IServiceCollection services, IConfiguration configuration, DashboardLogging? dashboard = null)
    {
        List<string> problems = [];
        Log.Logger = ProgramRun.CreateLogger(configuration, problems, dashboard is null ? null : dashboard.Configure);
        StartProblems.Add(services, problems);
        services.AddSerilog(providers: dashboard?.Providers);
    }
}
