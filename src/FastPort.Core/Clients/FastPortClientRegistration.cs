using System.Diagnostics.Metrics;
using FastPort;
using FastPort.Configuration;
using FastPort.Telemetry;
using FastPort.Telemetry.Metering;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds FastPort clients to the generic host.</summary>
public static class FastPortClientRegistration
{
    /// <summary>
    /// Adds a <see cref="FastPortClient"/>, also as <see cref="IFastPortClient"/>, that connects when the host starts and closes when it
    /// stops. Its <see cref="FastPortClientOptions"/> come from configuration section <c>FastPortClient</c>. Unknown keys and values out of
    /// range stop the host's start with an <see cref="OptionsValidationException"/> that names all of them. A server that cannot be reached
    /// also stops the start, unless <see cref="ClientOptions.RetryConnect"/> is set: then the client retries while the host runs. A client
    /// of a server in the same host is registered after that server.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or the client's section itself, of any name.</param>
    /// <param name="configure">Changes the options after binding, as <c>services.Configure</c> does. Defaults to no change.</param>
    /// <exception cref="InvalidOperationException">A client without a name has been added before.</exception>
    public static FastPortClientBuilder AddFastPortClient(
        this IServiceCollection services, IConfiguration configuration, Action<FastPortClientOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return Add(
            services,
            Options.Options.DefaultName,
            configuration as IConfigurationSection ?? configuration.GetSection(FastPortClientOptions.SectionName),
            configure);
    }

    /// <summary>
    /// Adds a client with a name; a host may have many. Client, also as <see cref="IFastPortClient"/>, and options are registered under
    /// that name.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The client's name, not empty.</param>
    /// <param name="section">The client's section, with the keys of <see cref="FastPortClientOptions"/>.</param>
    /// <param name="configure">Changes the options after binding. Defaults to no change.</param>
    /// <exception cref="InvalidOperationException">A client with this name has been added before.</exception>
    public static FastPortClientBuilder AddFastPortClient(
        this IServiceCollection services, string name, IConfigurationSection section, Action<FastPortClientOptions>? configure = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(section);
        return Add(services, name, section, configure);
    }

    private static FastPortClientBuilder Add(
        IServiceCollection services, string name, IConfigurationSection section, Action<FastPortClientOptions>? configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        NamedServices.Refuse<FastPortClient>(services, name);
        var builder = new FastPortClientBuilder(services, name);
        OptionsBuilder<FastPortClientOptions> options = SectionOptions.Add<FastPortClientOptions>(
            services, name, section, section.Path);
        if (configure is not null)
        {
            options.Configure(configure);
        }

        NamedServices.AddSingleton(
            services, name, provider => builder.Create(provider, NamedServices.Options<FastPortClientOptions>(provider, name)));
        NamedServices.AddSingleton<IFastPortClient>(
            services, name, provider => NamedServices.Get<FastPortClient>(provider, name));
        services.AddSingleton<IHostedService>(provider => new FastPortClientHostedService(
            NamedServices.Get<FastPortClient>(provider, name),
            NamedServices.Options<FastPortClientOptions>(provider, name).RetryConnect,
            FindLatencies(provider, name),
            provider.GetService<IMeterFactory>(),
            name.Length == 0 ? null : name));
        return builder;
    }

    // The application's own measurements are published if it has registered them under the client's name; a server's belong to the server.
    private static LatencyStats? FindLatencies(IServiceProvider provider, string name)
    {
        LatencyStats? latencies = name.Length == 0 ? provider.GetService<LatencyStats>() : provider.GetKeyedService<LatencyStats>(name);
        return latencies?.Role == LatencyRole.Client ? latencies : null;
    }

    /// <summary>Connects and closes a client, and its meter, with the host.</summary>
    private sealed class FastPortClientHostedService(
        FastPortClient client, bool retryConnect, LatencyStats? latencies, IMeterFactory? meters, string? name)
        : IHostedLifecycleService, IDisposable
    {
        private ClientMeter? _meter;
        private bool _triesAgain;

        public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            _meter = new ClientMeter(client.Counters, () => client.Session?.OutstandingRequests ?? 0, latencies, meters, name);
            if (retryConnect)
            {
                // The task ends with a session or with the close. Its exception is observed and discarded.
                _ = client.ConnectAsync(CancellationToken.None).ContinueWith(
                    static t => t.Exception, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            }
            else
            {
                try
                {
                    await client.ConnectAsync(cancellationToken).ConfigureAwait(false);
                }
                catch (EndpointException)
                {
                    // A server of this host listens when every service has started.
                    _triesAgain = true;
                }
            }
        }

        public Task StartedAsync(CancellationToken cancellationToken) =>
            _triesAgain ? client.ConnectAsync(cancellationToken) : Task.CompletedTask;

        public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        // Bounded by the client's own CloseTimeout and a few seconds more.
        public Task StopAsync(CancellationToken cancellationToken) => client.CloseAsync();

        public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public void Dispose() => _meter?.Dispose();
    }
}
