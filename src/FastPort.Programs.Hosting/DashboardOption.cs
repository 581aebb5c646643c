using System.CommandLine;
using FastPort.Dashboard;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Programs.Hosting;

/// <summary>The option <c>--dashboard</c> of the programs with a server.</summary>
internal static class DashboardOption
{
    public static Option<string?> Create() => new("--dashboard")
    {
        Description =
            "Serves the live page, metrics and health at this address, for example http://127.0.0.1:6680. Port 0 lets the system choose. "
            + "An address that other machines can reach needs a token in Dashboard:Token. [default: no dashboard]",
        HelpName = "URL",
    };

    /// <summary>
    /// Adds the dashboard, if the command line or the configuration enables it. Returns its connection to the log; null without a
    /// dashboard.
    /// </summary>
    public static DashboardLogging? Add(IServiceCollection services, IConfigurationManager configuration, string? url)
    {
        if (url is not null)
        {
            // Checked with the configuration, which it overrides. An empty URL would mean that there is none.
            configuration.AddInMemoryCollection([KeyValuePair.Create("Dashboard:Url", (string?)(url.Length == 0 ? " " : url))]);
        }

        if (!configuration.GetSection(DashboardOptions.SectionName).Exists())
        {
            return null;
        }

        var logging = new DashboardLogging(configuration);
        services.AddSingleton<IDashboardLogLevel>(logging);
        services.AddFastPortDashboard(configuration);
        return logging;
    }

    /// <summary>Prints the dashboard's address, if there is one.</summary>
    public static void Tell(IServiceProvider services)
    {
        if (services.GetService<DashboardServer>()?.Url is { } url)
        {
            Console.WriteLine($"dashboard on {url.GetLeftPart(UriPartial.Authority)}");
        }
    }
}
