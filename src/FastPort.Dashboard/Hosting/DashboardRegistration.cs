using FastPort;
using FastPort.Configuration;
using FastPort.Dashboard;
using FastPort.Dashboard.Actions;
using FastPort.Dashboard.Health;
using FastPort.Dashboard.Hosting;
using FastPort.Dashboard.Live;
using FastPort.Dashboard.Metrics;
using FastPort.Dashboard.Pages;
using FastPort.Dashboard.Security;
using FastPort.Dashboard.Sessions;
using FastPort.Dashboard.Tags;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds the dashboard to the generic host.</summary>
public static class DashboardRegistration
{
    /// <summary>
    /// Adds the dashboard of a FastPort server. Its <see cref="DashboardOptions"/> come from configuration section <c>Dashboard</c>;
    /// without a <see cref="DashboardOptions.Url"/> it does nothing. If keys are unknown or values out of range, the host does not start;
    /// the <see cref="OptionsValidationException"/> names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root).</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A dashboard was already added.</exception>
    public static IServiceCollection AddFastPortDashboard(
        this IServiceCollection services, IConfiguration configuration, Action<DashboardOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configuration);
        NamedServices.Refuse<DashboardServer>(services, string.Empty);
        IConfigurationSection section = configuration.GetSection(DashboardOptions.SectionName);
        OptionsBuilder<DashboardOptions> options = SectionOptions.Add<DashboardOptions>(
            services, Options.Options.DefaultName, section, section.Path);
        if (configure is not null)
        {
            options.Configure(configure);
        }

        services.AddSingleton<IValidateOptions<DashboardOptions>, ShownServerCheck>();
        services.TryAddSingleton(TimeProvider.System);
        services.AddSingleton(provider => new DashboardServer(Dashboard(provider), provider, configuration));
        services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<DashboardServer>());
        AddSecurity(services);
        AddFigures(services);
        services.AddSingleton<IDashboardEndpoints, PageEndpoints>();
        services.AddSingleton<IDashboardEndpoints, LoginEndpoints>();
        services.AddSingleton<IDashboardEndpoints>(static provider => new TagEndpoints(Server(provider), Dashboard(provider)));
        services.AddSingleton<IDashboardEndpoints, LiveEndpoints>();
        services.AddSingleton<IDashboardEndpoints, MetricsEndpoint>();
        AddHealth(services);
        services.AddSingleton<IDashboardEndpoints, SessionEndpoints>();
        services.AddSingleton<IDashboardEndpoints>(static provider => new ActionEndpoints(
            Dashboard(provider),
            Server(provider),
            provider.GetRequiredService<IHostApplicationLifetime>(),
            Logger(provider),
            provider.GetService<IDashboardLogLevel>()));
        return services;
    }

    // The shown server is checked, unless the application has registered its own checks.
    private static void AddHealth(IServiceCollection services)
    {
        services.AddHealthChecks();
        services.AddSingleton<IDashboardEndpoints, HealthEndpoints>();
        services.AddSingleton<IPostConfigureOptions<HealthCheckServiceOptions>>(static provider =>
        {
            string name = Dashboard(provider).ServerName;
            return new PostConfigureOptions<HealthCheckServiceOptions>(Options.Options.DefaultName, checks =>
            {
                if (checks.Registrations.All(static one => one.Name != HealthCheckRegistrations.ServerCheck))
                {
                    checks.Registrations.Add(HealthCheckRegistrations.Server(HealthCheckRegistrations.ServerCheck, name));
                }
            });
        });
    }

    private static void AddSecurity(IServiceCollection services)
    {
        services.AddSingleton<WrongTokens>();
        services.AddSingleton(static provider => new AccessMiddleware(
            Dashboard(provider), provider.GetRequiredService<WrongTokens>(), Logger(provider)));
    }

    private static void AddFigures(IServiceCollection services)
    {
        services.AddSingleton<IPostConfigureOptions<LatencyStatsOptions>, ShownServerLatencies>();
        services.AddSingleton<HostState>();
        services.AddSingleton<RecentWarnings>();
        services.AddSingleton<ILoggerProvider>(static provider => provider.GetRequiredService<RecentWarnings>());
        services.AddSingleton(static provider => new SessionDirectory(Server(provider), Time(provider)));
        services.AddSingleton(static provider => new LiveSampler(
            Server(provider),
            new LatencySampler(NamedServices.Get<LatencyStats>(provider, Dashboard(provider).ServerName), Logger(provider)),
            new ServerReasons(Server(provider)),
            new NodeSampler(NamedServices.Find<INodes>(provider, Dashboard(provider).ServerName)),
            provider.GetRequiredService<RecentWarnings>(),
            provider.GetRequiredService<WrongTokens>(),
            provider.GetRequiredService<HostState>(),
            Time(provider)));
        services.AddSingleton(static provider => new LiveFeed(
            provider.GetRequiredService<LiveSampler>(),
            new ServerDescription(
                Server(provider),
                NamedServices.Options<FastPortServerOptions>(provider, Dashboard(provider).ServerName).ServerName,
                Dashboard(provider).AllowActions,
                provider.GetService<IDashboardLogLevel>()),
            Time(provider),
            Logger(provider)));
    }

    private static DashboardOptions Dashboard(IServiceProvider provider) =>
        provider.GetRequiredService<IOptions<DashboardOptions>>().Value;

    private static FastPortServer Server(IServiceProvider provider) =>
        NamedServices.Get<FastPortServer>(provider, Dashboard(provider).ServerName);

    private static TimeProvider Time(IServiceProvider provider) => provider.GetRequiredService<TimeProvider>();

    private static ILogger<DashboardServer> Logger(IServiceProvider provider) =>
        NamedServices.LoggerFactory(provider).CreateLogger<DashboardServer>();
}
