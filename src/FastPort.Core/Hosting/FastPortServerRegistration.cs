using FastPort;
using FastPort.Configuration;
using FastPort.Hosting;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds FastPort servers to the generic host.</summary>
public static class FastPortServerRegistration
{
    // The options know the key of this component; its reader is missing in programs that do not add it.
    private const string BackplaneKey = "Backplane";

    /// <summary>
    /// Adds a <see cref="FastPortServer"/> that runs with the host: it listens when every service of the host has started, and stops before
    /// any of them stops, wherever they are registered. Its <see cref="FastPortServerOptions"/> come from configuration section
    /// <c>FastPort</c>. Latencies are reported as section <c>LatencyStats</c> says; its defaults are console and files. Without that
    /// section they are not reported. If keys are unknown or values out of range, the host does not start; the
    /// <see cref="OptionsValidationException"/> names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">
    /// The host's configuration (its root), or the server's section, of any name; with a section, <c>LatencyStats</c> is not read.
    /// </param>
    /// <param name="configure">Changes the options after they were bound, as <c>services.Configure</c> does. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A server without a name is already registered.</exception>
    public static FastPortBuilder AddFastPort(
        this IServiceCollection services, IConfiguration configuration, Action<FastPortServerOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return configuration is IConfigurationSection section
            ? Add(services, Options.Options.DefaultName, section, report: null, configure)
            : Add(
                services,
                Options.Options.DefaultName,
                configuration.GetSection(FastPortServerOptions.SectionName),
                configuration.GetSection(LatencyStatsOptions.SectionName),
                configure);
    }

    /// <summary>
    /// Adds a named server. A host can have many. Server, <see cref="LatencyStats"/> and options are registered under that name
    /// (<c>GetRequiredKeyedService</c>, <c>IOptionsMonitor.Get</c>), and its meter carries the name as tag <c>fastport.server</c>.
    /// Latencies are reported if the <see cref="LatencyStatsOptions"/> of that name say so.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The server's name, not empty.</param>
    /// <param name="section">The server's section, with the keys of <see cref="FastPortServerOptions"/>.</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A server with that name is already registered.</exception>
    public static FastPortBuilder AddFastPort(
        this IServiceCollection services, string name, IConfigurationSection section, Action<FastPortServerOptions>? configure = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, name, section, report: null, configure);
    }

    private static FastPortBuilder Add(
        IServiceCollection services,
        string name,
        IConfigurationSection section,
        IConfigurationSection? report,
        Action<FastPortServerOptions>? configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        NamedServices.Refuse<FastPortServer>(services, name);
        var builder = new FastPortBuilder(services, name);
        services.TryAddSingleton(TimeProvider.System);
        OptionsBuilder<FastPortServerOptions> options = SectionOptions.Add<FastPortServerOptions>(services, name, section, section.Path)
            .Validate(
                _ => NamedServices.Has<INodes>(services, name) || !section.GetSection(BackplaneKey).Exists(),
                $"{section.Path}:{BackplaneKey} is set, but this program joins no nodes: remove it, or call AddRedisBackplane.");
        if (configure is not null)
        {
            options.Configure(configure);
        }

        // A library must not write to the application's console or disk unless configured to.
        if (report?.Exists() != true)
        {
            services.Configure<LatencyStatsOptions>(name, static o => o.EnableConsoleOutput = o.EnableFileOutput = false);
        }

        SectionOptions.Add<LatencyStatsOptions>(
            services, name, report, report?.Path ?? LatencyStatsOptions.SectionName);
        NamedServices.AddSingleton(services, name, provider => CreateServer(provider, builder));
        NamedServices.AddSingleton(services, name, provider => new LatencyStats(
            LatencyRole.Server,
            NamedServices.Options<LatencyStatsOptions>(provider, name).MaxSamplesInMemory,
            type => NamedServices.Get<FastPortServer>(provider, name).Handlers.NameOf(type),
            provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<IHostedService>(provider => new FastPortHostedService(
            NamedServices.Get<FastPortServer>(provider, name),
            NamedServices.Get<LatencyStats>(provider, name),
            NamedServices.Options<LatencyStatsOptions>(provider, name),
            NamedServices.LoggerFactory(provider),
            provider.GetService<System.Diagnostics.Metrics.IMeterFactory>(),
            name.Length == 0 ? null : name,
            lifetime: provider.GetService<IHostApplicationLifetime>()));
        return builder;
    }

    private static FastPortServer CreateServer(IServiceProvider provider, FastPortBuilder builder)
    {
        var handlers = new MessageHandlers();
        foreach (Action<IServiceProvider, MessageHandlers> map in builder.Maps)
        {
            map(provider, handlers);
        }

        LatencyStatsOptions stats = NamedServices.Options<LatencyStatsOptions>(provider, builder.Name);
        FastPortServerOptions options = NamedServices.Options<FastPortServerOptions>(provider, builder.Name);
        bool measures = builder.MeasuresLatencies || stats.MeasureAlways || stats.EnableConsoleOutput || stats.EnableFileOutput
            || options.MeasureSessions;
        var components = new FastPortServerComponents
        {
            Time = provider.GetRequiredService<TimeProvider>(),
            LatencyStats = measures ? NamedServices.Get<LatencyStats>(provider, builder.Name) : null,
        };
        foreach (Action<IServiceProvider, FastPortServerComponents> configure in builder.ComponentSetters)
        {
            configure(provider, components);
        }

        if (components.LatencyStats is { } given && given != NamedServices.Get<LatencyStats>(provider, builder.Name))
        {
            throw new InvalidOperationException(
                "ConfigureComponents has set a LatencyStats that nothing would report; keep the one in the services, or register "
                + "yours in its place.");
        }

        components.Authenticator ??= SessionServices.FindAuthenticator(provider, builder);
        components.Authorizer ??= SessionServices.FindAuthorizer(provider, builder);
        var server = new FastPortServer(options, handlers, components, NamedServices.LoggerFactory(provider));
        foreach (Action<IServiceProvider, FastPortServer> subscribe in builder.Subscriptions)
        {
            subscribe(provider, server);
        }

        return server;
    }
}
