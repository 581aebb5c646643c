using FastPort;
using FastPort.Aspire.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.Hosting;

/// <summary>Adds FastPort clients by the names of their connections in Aspire.</summary>
public static class AspireFastPortExtensions
{
    private const string TelemetryName = "FastPort";
    private const string OptionsKey = "ClientOptions";

    /// <summary>
    /// Adds a <see cref="FastPortClient"/>, also as <see cref="IFastPortClient"/>, for the server of a connection string. The client
    /// connects when the host starts, and retries until the server is there (<see cref="ClientOptions.RetryConnect"/>). Adds a health
    /// check, the meter and the activity source <c>FastPort</c>. <see cref="FastPortClientOptions"/> come from sections
    /// <c>Aspire:FastPort:Client:ClientOptions</c> and <c>Aspire:FastPort:Client:{connectionName}:ClientOptions</c>. If the connection
    /// string is missing, or a setting or an option is wrong, the host does not start; the
    /// <see cref="Options.OptionsValidationException"/> names all problems.
    /// </summary>
    /// <param name="builder">The application's builder.</param>
    /// <param name="connectionName">The name of the connection string: that of the server's resource in the AppHost.</param>
    /// <param name="configureSettings">Changes the settings after they were read from configuration. Defaults to no change.</param>
    /// <param name="configureOptions">Changes the client's options after they were read. Defaults to no change.</param>
    /// <returns>Adds handlers and subscriptions.</returns>
    /// <exception cref="InvalidOperationException">A client without a key has been added before.</exception>
    public static FastPortClientBuilder AddFastPortClient(
        this IHostApplicationBuilder builder,
        string connectionName,
        Action<FastPortClientSettings>? configureSettings = null,
        Action<FastPortClientOptions>? configureOptions = null) =>
        Add(builder, connectionName, isKeyed: false, configureSettings, configureOptions);

    /// <summary>
    /// Adds a client as keyed service, for hosts with several. See <see cref="AddFastPortClient"/>.
    /// </summary>
    /// <param name="builder">The application's builder.</param>
    /// <param name="name">The key of the service, and the name of the connection string.</param>
    /// <param name="configureSettings">Changes the settings after they were read from configuration. Defaults to no change.</param>
    /// <param name="configureOptions">Changes the client's options after they were read. Defaults to no change.</param>
    /// <returns>Adds handlers and subscriptions.</returns>
    /// <exception cref="InvalidOperationException">A client with this key has been added before.</exception>
    public static FastPortClientBuilder AddKeyedFastPortClient(
        this IHostApplicationBuilder builder,
        string name,
        Action<FastPortClientSettings>? configureSettings = null,
        Action<FastPortClientOptions>? configureOptions = null) =>
        Add(builder, name, isKeyed: true, configureSettings, configureOptions);

    private static FastPortClientBuilder Add(
        IHostApplicationBuilder builder,
        string connectionName,
        bool isKeyed,
        Action<FastPortClientSettings>? configureSettings,
        Action<FastPortClientOptions>? configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentException.ThrowIfNullOrEmpty(connectionName);
        List<string> problems = [];
        FastPortClientSettings settings = FastPortClientSettings.Read(builder.Configuration, connectionName, problems);
        configureSettings?.Invoke(settings);
        IConfigurationSection section = Options(builder.Configuration, connectionName, settings, problems);
        FastPortClientBuilder client = isKeyed
            ? builder.Services.AddFastPortClient(connectionName, section, configureOptions)
            : builder.Services.AddFastPortClient(section, configureOptions);
        if (string.IsNullOrWhiteSpace(settings.ConnectionString))
        {
            problems.Add(
                $"ConnectionStrings:{connectionName} is missing. The AppHost sets it with WithReference; elsewhere, set it to the server's "
                + "endpoint, as in tcp://127.0.0.1:6628.");
        }

        // Not thrown here: the start names them together with the problems of all options. And programs that build a host without starting
        // it, such as those that read its services at design time, have no connection.
        foreach (string problem in problems)
        {
            builder.Services.AddOptions<FastPortClientOptions>(client.Name).Validate(static _ => false, problem);
        }

        AddHealthCheck(builder.Services, client.Name, settings);
        AddTelemetry(builder.Services, settings);
        return client;
    }

    // Later values win: common options, those of this connection, the connection string.
    private static IConfigurationSection Options(
        IConfiguration configuration, string connectionName, FastPortClientSettings settings, List<string> problems)
    {
        IConfigurationSection common = configuration.GetSection(FastPortClientSettings.SectionName);
        string path = $"{FastPortClientSettings.SectionName}:{connectionName}:{OptionsKey}";
        string endpoint = $"{path}:{nameof(FastPortClientOptions.Endpoint)}";
        var values = new Dictionary<string, string?>(StringComparer.OrdinalIgnoreCase)
        {
            [$"{path}:{nameof(ClientOptions.RetryConnect)}"] = bool.TrueString,
        };
        int known = problems.Count;
        foreach ((string key, string? value) in common.GetSection(OptionsKey).AsEnumerable(makePathsRelative: true)
            .Concat(configuration.GetSection(path).AsEnumerable(makePathsRelative: true)).Concat(FromConnectionString()))
        {
            values[$"{path}:{key}"] = value;
        }

        if (!string.IsNullOrWhiteSpace(settings.ConnectionString) && problems.Count == known && !values.ContainsKey(endpoint))
        {
            // The default would be a server of this machine.
            problems.Add($"ConnectionStrings:{connectionName} names no Endpoint; add one, as in Endpoint=tcp://127.0.0.1:6628.");
        }

        return new ConfigurationBuilder().AddInMemoryCollection(values).Build().GetSection(path);

        IEnumerable<KeyValuePair<string, string?>> FromConnectionString()
        {
            try
            {
                return settings.Options();
            }
            catch (ArgumentException)
            {
                // Its text may contain a token.
                problems.Add(
                    $"ConnectionStrings:{connectionName} is neither an endpoint, as tcp://127.0.0.1:6628, nor Key=Value;Key=Value.");
                return [];
            }
        }
    }

    private static void AddHealthCheck(IServiceCollection services, string name, FastPortClientSettings settings)
    {
        if (settings.DisableHealthChecks)
        {
            return;
        }

        // The program may have added the same check of FastPort.Dashboard.
        string check = name.Length == 0 ? "fastport-client" : $"fastport-client-{name}";
        services.AddHealthChecks();
        services.PostConfigure<HealthCheckServiceOptions>(checks =>
        {
            if (checks.Registrations.All(one => one.Name != check))
            {
                checks.Registrations.Add(new HealthCheckRegistration(
                    check,
                    provider => new ClientHealthCheck(name.Length == 0
                        ? provider.GetRequiredService<FastPortClient>()
                        : provider.GetRequiredKeyedService<FastPortClient>(name)),
                    failureStatus: null,
                    tags: null));
            }
        });
    }

    private static void AddTelemetry(IServiceCollection services, FastPortClientSettings settings)
    {
        if (!settings.DisableMetrics)
        {
            services.AddOpenTelemetry().WithMetrics(static metrics => metrics.AddMeter(TelemetryName));
        }

        if (!settings.DisableTracing)
        {
            services.AddOpenTelemetry().WithTracing(static traces => traces.AddSource(TelemetryName));
        }
    }
}
