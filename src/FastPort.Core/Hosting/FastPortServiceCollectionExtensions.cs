using FastPort.Dispatch;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Hosting;

/// <summary>Adds a FastPort server to the generic host.</summary>
public static class FastPortServiceCollectionExtensions
{
    /// <summary>
    /// Adds a <see cref="FastPortServer"/> that starts and stops with the host. Its options come from configuration section <c>FastPort</c>. Latencies are
    /// reported as section <c>LatencyStats</c> says, to the console and to files where it leaves that open, and not at all where there is no such section.
    /// Unknown keys and values out of range stop the start with a <see cref="FastPortOptionsException"/>.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root).</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">There is a server already.</exception>
    public static FastPortBuilder AddFastPort(
        this IServiceCollection services, IConfiguration configuration, Action<FastPortServerOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configuration);
        if (services.Any(static s => s.ServiceType == typeof(FastPortServer)))
        {
            throw new InvalidOperationException("A FastPortServer has been added already; a host has one. Give it more endpoints, or make and start a further one yourself.");
        }

        var builder = new FastPortBuilder(services);
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton(_ => ReportOptions(configuration));
        services.TryAddSingleton(_ =>
        {
            FastPortServerOptions options = FastPortConfiguration.BindServer(configuration);
            configure?.Invoke(options);
            return options;
        });
        services.AddSingleton(provider => CreateServer(provider, builder));
        services.AddSingleton<IHostedService>(provider => new FastPortHostedService(
            provider.GetRequiredService<FastPortServer>(),
            provider.GetRequiredService<LatencyStats>(),
            provider.GetRequiredService<LatencyStatsOptions>(),
            LoggerFactory(provider),
            provider.GetService<System.Diagnostics.Metrics.IMeterFactory>()));
        services.TryAddSingleton(provider => new LatencyStats(
            LatencyRole.Server,
            provider.GetRequiredService<LatencyStatsOptions>().MaxSamplesInMemory,
            type => provider.GetRequiredService<FastPortServer>().Handlers.NameOf(type),
            provider.GetRequiredService<TimeProvider>()));
        return builder;
    }

    // A library writes nothing into other people's programs unless it is asked to.
    private static LatencyStatsOptions ReportOptions(IConfiguration configuration) =>
        configuration.GetSection(LatencyStatsOptions.SectionName).Exists()
            ? FastPortConfiguration.BindLatencyStats(configuration)
            : new LatencyStatsOptions { EnableConsoleOutput = false, EnableFileOutput = false };

    private static FastPortServer CreateServer(IServiceProvider provider, FastPortBuilder builder)
    {
        var handlers = new MessageHandlers();
        foreach (Action<IServiceProvider, MessageHandlers> map in builder.Maps)
        {
            map(provider, handlers);
        }

        LatencyStatsOptions stats = provider.GetRequiredService<LatencyStatsOptions>();
        var hooks = new FastPortServerHooks
        {
            Time = provider.GetRequiredService<TimeProvider>(),
            LatencyStats = builder.MeasuresLatencies || stats.EnableConsoleOutput || stats.EnableFileOutput ? provider.GetRequiredService<LatencyStats>() : null,
        };
        foreach (Action<IServiceProvider, FastPortServerHooks> configure in builder.HookSetters)
        {
            configure(provider, hooks);
        }

        var server = new FastPortServer(provider.GetRequiredService<FastPortServerOptions>(), handlers, hooks, LoggerFactory(provider));
        foreach (Action<IServiceProvider, FastPortServer> subscribe in builder.Subscriptions)
        {
            subscribe(provider, server);
        }

        return server;
    }

    private static ILoggerFactory LoggerFactory(IServiceProvider provider) => provider.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance;
}
