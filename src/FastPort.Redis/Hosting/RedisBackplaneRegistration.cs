using System.Diagnostics.Metrics;
using FastPort;
using FastPort.Configuration;
using FastPort.Redis;
using FastPort.Redis.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Makes a FastPort server a node in a group of servers.</summary>
public static class RedisBackplaneRegistration
{
    /// <summary>
    /// Joins the server to the nodes of configuration section <c>FastPort:Backplane</c> (<see cref="RedisBackplaneOptions"/>). The host
    /// does not start if Redis cannot be used or another node has this one's name; the exception says why.
    /// </summary>
    /// <param name="builder">The server.</param>
    /// <param name="configuration">The host's configuration (its root), or the section, of any name.</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    public static FastPortBuilder AddRedisBackplane(
        this FastPortBuilder builder, IConfiguration configuration, Action<RedisBackplaneOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configuration);
        IConfigurationSection section =
            configuration as IConfigurationSection ?? configuration.GetSection(RedisBackplaneOptions.SectionName);
        Options.OptionsBuilder<RedisBackplaneOptions> options = SectionOptions.Add<RedisBackplaneOptions>(
            builder.Services, builder.Name, section, section.Path);
        if (configure is not null)
        {
            options.Configure(configure);
        }

        string name = builder.Name;
        NamedServices.AddSingleton(
            builder.Services,
            name,
            provider => new RedisBackplane(
                NamedServices.Options<RedisBackplaneOptions>(provider, name),
                provider.GetRequiredService<TimeProvider>(),
                NamedServices.LoggerFactory(provider)));
        NamedServices.AddSingleton<INodes>(builder.Services, name, provider => NamedServices.Get<RedisBackplane>(provider, name));
        builder.Services.AddSingleton<IHostedService>(provider => new RedisBackplaneService(
            NamedServices.Get<RedisBackplane>(provider, name),
            NamedServices.Options<FastPortServerOptions>(provider, name),
            provider.GetService<IMeterFactory>()));
        builder.Services.AddOptions<HealthCheckServiceOptions>().Configure<IServiceProvider>((checks, provider) =>
            checks.Registrations.Add(new HealthCheckRegistration(
                name.Length == 0 ? "fastport-backplane" : $"fastport-backplane-{name}",
                services => new BackplaneHealthCheck(NamedServices.Get<RedisBackplane>(services, name)),
                NamedServices.Options<RedisBackplaneOptions>(provider, name).RequireBackplane
                    ? HealthStatus.Unhealthy
                    : HealthStatus.Degraded,
                tags: null)));
        return builder.ConfigureComponents((provider, components) =>
        {
            RedisBackplane backplane = NamedServices.Get<RedisBackplane>(provider, name);
            components.Router = backplane.Attach;
            components.Peers = backplane.Attach;
            components.RoutingIdClaims = backplane;
            components.TopicInterests = backplane.Interests;
        });
    }
}
