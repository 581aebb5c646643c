using FastPort.Configuration;
using FastPort.Dispatch;
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
    /// <summary>
    /// Adds a <see cref="FastPortServer"/> that starts and stops with the host. Its <see cref="FastPortServerOptions"/> come from
    /// configuration section <c>FastPort</c>. Latencies are
    /// reported as section <c>LatencyStats</c> says, to the console and to files where it leaves that open, and not at all where there is
    /// no such section.
    /// Unknown keys and values out of range stop the host's start with an <see cref="OptionsValidationException"/> that names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or the server's section itself, of whatever name; then no
    /// <c>LatencyStats</c> are read.</param>
    /// <param name="configure">Changes the options after they were bound, as <c>services.Configure</c> does. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">There is such a server already.</exception>
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
    /// Adds a server with a name, of which a host may have many. Server, <see cref="LatencyStats"/> and options are registered under that
    /// name
    /// (<c>GetRequiredKeyedService</c>, <c>IOptionsMonitor.Get</c>), and its meter has it as tag <c>fastport.server</c>. Latencies are
    /// reported where
    /// <see cref="LatencyStatsOptions"/> of that name say so.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The server's name, not empty.</param>
    /// <param name="section">The server's section, with the keys of <see cref="FastPortServerOptions"/>.</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">There is a server with that name already.</exception>
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
        Named.Refuse<FastPortServer>(services, name);
        var builder = new FastPortBuilder(services, name);
        services.TryAddSingleton(TimeProvider.System);
        OptionsBuilder<FastPortServerOptions> options = SectionOptions.Add<FastPortServerOptions>(
            services, name, section, section.Path, static (o, s) => o.Describe(s)).Configure(o => o.Section = section.Path);
        if (configure is not null)
        {
            options.Configure(configure);
        }

        // A library writes nothing into other people's programs unless it is asked to.
        if (report?.Exists() != true)
        {
            services.Configure<LatencyStatsOptions>(name, static o => o.EnableConsoleOutput = o.EnableFileOutput = false);
        }

        SectionOptions.Add<LatencyStatsOptions>(
            services, name, report, report?.Path ?? LatencyStatsOptions.SectionName, static (o, s) => o.Describe(s));
        Named.AddSingleton(services, name, provider => CreateServer(provider, builder));
        Named.AddSingleton(services, name, provider => new LatencyStats(
            LatencyRole.Server,
            Named.Options<LatencyStatsOptions>(provider, name).MaxSamplesInMemory,
            type => Named.Get<FastPortServer>(provider, name).Handlers.NameOf(type),
            provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<IHostedService>(provider => new FastPortHostedService(
            Named.Get<FastPortServer>(provider, name),
            Named.Get<LatencyStats>(provider, name),
            Named.Options<LatencyStatsOptions>(provider, name),
            Named.LoggerFactory(provider),
            provider.GetService<System.Diagnostics.Metrics.IMeterFactory>(),
            name.Length == 0 ? null : name));
        return builder;
    }

    private static FastPortServer CreateServer(IServiceProvider provider, FastPortBuilder builder)
    {
        var handlers = new MessageHandlers();
        foreach (Action<IServiceProvider, MessageHandlers> map in builder.Maps)
        {
            map(provider, handlers);
        }

        LatencyStatsOptions stats = Named.Options<LatencyStatsOptions>(provider, builder.Name);
        bool measures = builder.MeasuresLatencies || stats.EnableConsoleOutput || stats.EnableFileOutput;
        var components = new FastPortServerComponents
        {
            Time = provider.GetRequiredService<TimeProvider>(),
            LatencyStats = measures ? Named.Get<LatencyStats>(provider, builder.Name) : null,
        };
        foreach (Action<IServiceProvider, FastPortServerComponents> configure in builder.ComponentSetters)
        {
            configure(provider, components);
        }

        components.Authenticator ??= SessionServices.FindAuthenticator(provider, builder);
        components.Authorizer ??= SessionServices.FindAuthorizer(provider, builder);
        FastPortServerOptions options = Named.Options<FastPortServerOptions>(provider, builder.Name);
        var server = new FastPortServer(options, handlers, components, Named.LoggerFactory(provider));
        foreach (Action<IServiceProvider, FastPortServer> subscribe in builder.Subscriptions)
        {
            subscribe(provider, server);
        }

        return server;
    }
}
