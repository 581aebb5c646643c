using FastPort;
using FastPort.Configuration;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds OPC UA clients to the generic host.</summary>
public static class OpcUaClientRegistration
{
    /// <summary>
    /// Adds an <see cref="OpcUaClient"/> that connects when the host starts and closes its session when it stops. Its
    /// <see cref="OpcUaClientOptions"/> come from configuration section <c>OpcUaClient</c>. Unknown keys and values out of range stop the
    /// host's start with an <see cref="OptionsValidationException"/> that names all of them. A server that cannot be reached also stops the
    /// start, unless <see cref="ClientOptions.RetryConnect"/> is set. Requests made before the client has connected wait for it.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or the client's section, of any name.</param>
    /// <exception cref="InvalidOperationException">A client without a name is already registered.</exception>
    public static OptionsBuilder<OpcUaClientOptions> AddOpcUaClient(this IServiceCollection services, IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return Add(
            services,
            Options.Options.DefaultName,
            configuration as IConfigurationSection ?? configuration.GetSection(OpcUaClientOptions.SectionName));
    }

    /// <summary>Adds a named client. A host can have many. Client and options are registered under that name.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The client's name, not empty.</param>
    /// <param name="section">The client's section, with the keys of <see cref="OpcUaClientOptions"/>.</param>
    /// <exception cref="InvalidOperationException">A client with that name is already registered.</exception>
    public static OptionsBuilder<OpcUaClientOptions> AddOpcUaClient(
        this IServiceCollection services, string name, IConfigurationSection section)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, name, section);
    }

    private static OptionsBuilder<OpcUaClientOptions> Add(IServiceCollection services, string name, IConfigurationSection section)
    {
        ArgumentNullException.ThrowIfNull(services);
        NamedServices.Refuse<OpcUaClient>(services, name);
        services.TryAddSingleton(TimeProvider.System);
        NamedServices.AddSingleton(services, name, provider => OpcUaClient.Create(
            NamedServices.Options<OpcUaClientOptions>(provider, name),
            provider.GetService<ILoggerFactory>(),
            provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<IHostedService>(
            provider => new OpcUaClientHostedService(NamedServices.Get<OpcUaClient>(provider, name)));
        return SectionOptions.Add<OpcUaClientOptions>(services, name, section, section.Path);
    }

    /// <summary>Connects and closes a client with the host.</summary>
    private sealed class OpcUaClientHostedService(OpcUaClient client) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken) => client.StartAsync(cancellationToken);

        // Bounded by the client's own ConnectTimeout.
        public Task StopAsync(CancellationToken cancellationToken) => client.DisposeAsync().AsTask();
    }
}
