using FastPort.Configuration;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds OPC UA servers to the generic host.</summary>
public static class OpcUaServerRegistration
{
    /// <summary>
    /// Adds an <see cref="OpcUaServer"/> that starts and stops with the host. Its <see cref="OpcUaServerOptions"/> come from configuration
    /// section <c>OpcUaServer</c>; options that only code can set, such as <see cref="OpcUaServerOptions.ValidateUser"/>, are set with the
    /// returned builder. If keys are unknown or values out of range, the host does not start; the <see cref="OptionsValidationException"/>
    /// names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or the server's section, of any name.</param>
    /// <param name="addNodes">
    /// Adds the nodes that clients see when the server is created, before it listens; receives the root service provider. Defaults to
    /// nothing: nodes can also be added later, to <see cref="OpcUaServer.AddressSpace"/>.
    /// </param>
    /// <exception cref="InvalidOperationException">A server without a name is already registered.</exception>
    public static OptionsBuilder<OpcUaServerOptions> AddOpcUaServer(
        this IServiceCollection services, IConfiguration configuration, Action<IServiceProvider, AddressSpace>? addNodes = null)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return Add(
            services,
            Options.Options.DefaultName,
            configuration as IConfigurationSection ?? configuration.GetSection(OpcUaServerOptions.SectionName),
            addNodes);
    }

    /// <summary>
    /// Adds a named server. A host can have many. Server and options are registered under that name (<c>GetRequiredKeyedService</c>,
    /// <c>IOptionsMonitor.Get</c>).
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The server's name, not empty.</param>
    /// <param name="section">The server's section, with the keys of <see cref="OpcUaServerOptions"/>.</param>
    /// <param name="addNodes">Adds the nodes that clients see when the server is created. Defaults to nothing.</param>
    /// <exception cref="InvalidOperationException">A server with that name is already registered.</exception>
    public static OptionsBuilder<OpcUaServerOptions> AddOpcUaServer(
        this IServiceCollection services,
        string name,
        IConfigurationSection section,
        Action<IServiceProvider, AddressSpace>? addNodes = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, name, section, addNodes);
    }

    private static OptionsBuilder<OpcUaServerOptions> Add(
        IServiceCollection services, string name, IConfigurationSection section, Action<IServiceProvider, AddressSpace>? addNodes)
    {
        ArgumentNullException.ThrowIfNull(services);
        NamedServices.Refuse<OpcUaServer>(services, name);
        services.TryAddSingleton(TimeProvider.System);
        NamedServices.AddSingleton(services, name, provider =>
        {
            var server = new OpcUaServer(
                NamedServices.Options<OpcUaServerOptions>(provider, name),
                provider.GetService<ILoggerFactory>(),
                provider.GetRequiredService<TimeProvider>());
            addNodes?.Invoke(provider, server.AddressSpace);
            return server;
        });
        services.AddSingleton<IHostedService>(
            provider => new OpcUaServerHostedService(NamedServices.Get<OpcUaServer>(provider, name)));
        return SectionOptions.Add<OpcUaServerOptions>(services, name, section, section.Path);
    }

    /// <summary>Starts and stops a server with the host. The container disposes the server.</summary>
    private sealed class OpcUaServerHostedService(OpcUaServer server) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken) => server.StartAsync(cancellationToken);

        // The host's token is not used, because by default it limits all services together to 30 s. The server's stop is bounded itself.
        public Task StopAsync(CancellationToken cancellationToken) => server.StopAsync(CancellationToken.None);
    }
}
