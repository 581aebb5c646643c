using FastPort.Configuration;
using FastPort.Connections;
using FastPort.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds servers of other protocols to the generic host.</summary>
public static class ConnectionServerRegistration
{
    /// <summary>
    /// Adds a <see cref="ConnectionServer"/> that starts and stops with the host. Its <see cref="ConnectionServerOptions"/> come from
    /// configuration section <c>ConnectionServer</c>. Unknown
    /// keys and values out of range stop the host's start with an <see cref="OptionsValidationException"/> that names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or the server's section itself, of whatever name.</param>
    /// <param name="protocol">Makes the protocol of a connection; gets the root service provider. Called once per connection, on the
    /// thread pool.</param>
    /// <param name="configureComponents">Sets transports and stages when the server is made. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">There is such a server already.</exception>
    public static OptionsBuilder<ConnectionServerOptions> AddConnectionServer(
        this IServiceCollection services,
        IConfiguration configuration,
        Func<IServiceProvider, Connection, IConnectionProtocol> protocol,
        Action<IServiceProvider, ConnectionServerComponents>? configureComponents = null)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return Add(
            services,
            Options.Options.DefaultName,
            configuration as IConfigurationSection ?? configuration.GetSection(ConnectionServerOptions.SectionName),
            protocol,
            configureComponents);
    }

    /// <summary>Adds a server with a name, of which a host may have many. Server and options are registered under that name.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The server's name, not empty.</param>
    /// <param name="section">The server's section, with the keys of <see cref="ConnectionServerOptions"/>.</param>
    /// <param name="protocol">Makes the protocol of a connection; gets the root service provider. Called once per connection, on the
    /// thread pool.</param>
    /// <param name="configureComponents">Sets transports and stages when the server is made. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">There is a server with that name already.</exception>
    public static OptionsBuilder<ConnectionServerOptions> AddConnectionServer(
        this IServiceCollection services,
        string name,
        IConfigurationSection section,
        Func<IServiceProvider, Connection, IConnectionProtocol> protocol,
        Action<IServiceProvider, ConnectionServerComponents>? configureComponents = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, name, section, protocol, configureComponents);
    }

    private static OptionsBuilder<ConnectionServerOptions> Add(
        IServiceCollection services,
        string name,
        IConfigurationSection section,
        Func<IServiceProvider, Connection, IConnectionProtocol> protocol,
        Action<IServiceProvider, ConnectionServerComponents>? configureComponents)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(protocol);
        Named.Refuse<ConnectionServer>(services, name);
        services.TryAddSingleton(TimeProvider.System);
        Named.AddSingleton(services, name, provider =>
        {
            var components = new ConnectionServerComponents { Time = provider.GetRequiredService<TimeProvider>() };
            configureComponents?.Invoke(provider, components);
            return new ConnectionServer(
                Named.Options<ConnectionServerOptions>(provider, name),
                connection => protocol(provider, connection),
                components,
                Named.LoggerFactory(provider));
        });
        services.AddSingleton<IHostedService>(provider => new ConnectionServerHostedService(Named.Get<ConnectionServer>(provider, name)));
        return SectionOptions.Add<ConnectionServerOptions>(services, name, section, section.Path, static (o, s) => o.Describe(s))
            .Configure(o => o.Section = section.Path);
    }

    /// <summary>Runs a server with the host. The container disposes of the server.</summary>
    private sealed class ConnectionServerHostedService(ConnectionServer server) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken) => server.StartAsync(cancellationToken);

        // Not the host's token, which gives all services together 30 s by default: the server's own ShutdownTimeout bounds its stop.
        public Task StopAsync(CancellationToken cancellationToken) => server.StopAsync(CancellationToken.None);
    }
}
