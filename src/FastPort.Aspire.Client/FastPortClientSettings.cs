using System.Data.Common;
using Microsoft.Extensions.Configuration;

namespace FastPort.Aspire.Client;

/// <summary>
/// Settings of a client that <c>AddFastPortClient</c> adds. They come from configuration section <c>Aspire:FastPort:Client</c> and its
/// section of the connection's name, which has precedence. Not thread-safe.
/// </summary>
public sealed class FastPortClientSettings
{
    internal const string SectionName = "Aspire:FastPort:Client";

    /// <summary>
    /// The server: an endpoint such as <c>tcp://host:port</c>, or <c>Endpoint=tcp://host:port</c>, each optionally with further keys of
    /// <see cref="FastPortClientOptions"/>, as in <c>Endpoint=tls://host:port;Token=...;Tls:AuthorityFile=...</c>. Defaults to the
    /// configuration's connection string, or else to key <c>ConnectionString</c> of the section.
    /// </summary>
    public string? ConnectionString { get; set; }

    /// <summary>Whether no health check is added. Defaults to false: the client is healthy while it is connected.</summary>
    public bool DisableHealthChecks { get; set; }

    /// <summary>Whether the meter <c>FastPort</c> is not added to OpenTelemetry's metrics. Defaults to false.</summary>
    public bool DisableMetrics { get; set; }

    /// <summary>
    /// Whether the activity source <c>FastPort</c> is not added to OpenTelemetry's traces. Without a sampler, each request has an activity.
    /// Defaults to false.
    /// </summary>
    public bool DisableTracing { get; set; }

    internal static FastPortClientSettings Read(IConfiguration configuration, string connectionName, ICollection<string> problems)
    {
        var settings = new FastPortClientSettings();
        IConfigurationSection section = configuration.GetSection(SectionName);
        settings.Read(section, problems);
        settings.Read(section.GetSection(connectionName), problems);
        settings.ConnectionString = configuration.GetConnectionString(connectionName) ?? settings.ConnectionString;
        return settings;
    }

    /// <summary>The connection string as keys and values of the client's options.</summary>
    /// <exception cref="ArgumentException">It is neither an endpoint nor a list of keys and values.</exception>
    internal IEnumerable<KeyValuePair<string, string?>> Options()
    {
        if (string.IsNullOrWhiteSpace(ConnectionString))
        {
            return [];
        }

        int scheme = ConnectionString.IndexOf("://", StringComparison.Ordinal);
        bool beginsWithEndpoint = scheme >= 0 && !ConnectionString.AsSpan(0, scheme).Contains('=');
        var pairs = new DbConnectionStringBuilder
        {
            ConnectionString = beginsWithEndpoint ? $"{nameof(FastPortClientOptions.Endpoint)}={ConnectionString}" : ConnectionString,
        };
        return [.. pairs.Keys.Cast<string>().Select(key => new KeyValuePair<string, string?>(key, $"{pairs[key]}"))];
    }

    private void Read(IConfigurationSection section, ICollection<string> problems)
    {
        ConnectionString = section[nameof(ConnectionString)] ?? ConnectionString;
        DisableHealthChecks = Flag(nameof(DisableHealthChecks), DisableHealthChecks);
        DisableMetrics = Flag(nameof(DisableMetrics), DisableMetrics);
        DisableTracing = Flag(nameof(DisableTracing), DisableTracing);

        bool Flag(string key, bool value)
        {
            if (section[key] is not { } text)
            {
                return value;
            }

            if (bool.TryParse(text, out bool given))
            {
                return given;
            }

            problems.Add($"{section.Path}:{key} is '{text}'; allowed: true, false.");
            return value;
        }
    }
}
