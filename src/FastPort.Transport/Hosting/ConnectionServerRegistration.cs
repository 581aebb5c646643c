using FastPort.Configuration;
using FastPort.Connections;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds servers of other protocols to the generic host.</summary>
public static class ConnectionServerRegistration
{
    /// <summary>
    /// Adds a <see cref="ConnectionServer"/> that runs with the host: it listens when every service of the host has started, and stops
    /// before any of them stops. Its <see cref="ConnectionServerOptions"/> come from configuration section <c>ConnectionServer</c>. If keys
    /// are unknown or values out of range, the host does not start; the <see cref="OptionsValidationException"/> names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or the server's section, of any name.</param>
    /// <param name="protocol">
    /// Creates the protocol of a connection; receives the root service provider. Called once per connection, on its loop; must not block.
    /// </param>
    /// <param name="configureComponents">Sets transports and stages when the server is created. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A server without a name is already registered.</exception>
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

    /// <summary>Adds a named server. A host can have many. Server and options are registered under that name.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The server's name, not empty.</param>
    /// <param name="section">The server's section, with the keys of <see cref="ConnectionServerOptions"/>.</param>
    /// <param name="protocol">
    /// Creates the protocol of a connection; receives the root service provider. Called once per connection, on its loop; must not block.
    /// </param>
    /// <param name="configureComponents">Sets transports and stages when the server is created. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A server with that name is already registered.</exception>
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
        NamedServices.Refuse<ConnectionServer>(services, name);
        services.TryAddSingleton(TimeProvider.System);
        NamedServices.AddSingleton(services, name, provider =>
        {
            var components = new ConnectionServerComponents { Time = provider.GetRequiredService<TimeProvider>() };
            configureComponents?.Invoke(provider, components);
            return new ConnectionServer(
                NamedServices.Options<ConnectionServerOptions>(provider, name),
                connection => protocol(provider, connection),
                components,
                NamedServices.LoggerFactory(provider));
        });
        services.AddSingleton<IHostedService>(
            provider => new ConnectionServerHostedService(
                NamedServices.Get<ConnectionServer>(provider, name), provider.GetService<IHostApplicationLifetime>()));
        return SectionOptions.Add<ConnectionServerOptions>(services, name, section, section.Path);
    }

    /// <summary>
    /// Starts a server when every service of the host has started, and stops it before any of them stops: connections find the services
    /// that serve them. The container disposes the server.
    /// </summary>
    private sealed class ConnectionServerHostedService(ConnectionServer server, IHostApplicationLifetime? lifetime)
        : IHostedLifecycleService
    {
        public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StartedAsync(CancellationToken cancellationToken) => server.StartAsync(cancellationToken);

        // The host's token is not used, because by default it limits all services together to 30 s. ShutdownTimeout bounds the stop.
        public Task StoppingAsync(CancellationToken cancellationToken)
        {
            // The host would raise ApplicationStopping only afterwards.
            lifetime?.StopApplication();
            return server.StopAsync(CancellationToken.None);
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
