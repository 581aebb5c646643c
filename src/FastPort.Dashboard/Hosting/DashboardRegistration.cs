using FastPort.Configuration;
using FastPort.Dashboard;
using FastPort.Dashboard.Pages;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds the dashboard to the generic host.</summary>
public static class DashboardRegistration
{
    /// <summary>
    /// Adds the dashboard of a FastPort server. Its <see cref="DashboardOptions"/> come from configuration section <c>Dashboard</c>; without
    /// a <see cref="DashboardOptions.Url"/> it does nothing. If keys are unknown or values out of range, the host does not start; the
    /// <see cref="OptionsValidationException"/> names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root).</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A dashboard was added already.</exception>
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

        services.AddSingleton<IDashboardEndpoints, PageEndpoints>();
        services.AddSingleton(provider => new DashboardServer(
            provider.GetRequiredService<IOptions<DashboardOptions>>().Value,
            configuration,
            provider.GetServices<IDashboardEndpoints>(),
            NamedServices.LoggerFactory(provider)));
        services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<DashboardServer>());
        return services;
    }
}
