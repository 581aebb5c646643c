using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Hosting;

/// <summary>The certificate of an https:// dashboard, by Kestrel's keys.</summary>
internal static class DashboardCertificate
{
    private const string Default = "Certificates:Default";
    private const string Section = $"{DashboardOptions.SectionName}:Certificate";

    /// <summary>Kestrel's section with nothing but certificates: its endpoints are the host's, not the dashboard's.</summary>
    public static IConfigurationRoot Configuration(IConfiguration configuration)
    {
        var certificates = new Dictionary<string, string?>(StringComparer.OrdinalIgnoreCase);
        Add(configuration.GetSection("Kestrel:Certificates"), "Certificates");
        Add(configuration.GetSection(Section), Default);
        return new ConfigurationBuilder().AddInMemoryCollection(certificates).Build();

        void Add(IConfigurationSection section, string key)
        {
            foreach ((string path, string? value) in section.AsEnumerable(makePathsRelative: true))
            {
                if (value is not null)
                {
                    certificates[$"{key}:{path}"] = value;
                }
            }
        }
    }

    /// <summary>
    /// The certificate of a file, reloaded when the file changes. Null if no file is named: Kestrel uses one of the system's store, or the
    /// development certificate, and keeps it.
    /// </summary>
    /// <exception cref="FastPortOptionsException">It cannot be used.</exception>
    public static WatchedCertificate? Watch(IConfiguration configuration, ILogger logger, TimeProvider time)
    {
        IConfigurationSection named = Configuration(configuration).GetSection(Default);
        if (named["Path"] is not { Length: > 0 } path)
        {
            return null;
        }

        string? password = named["Password"] is { Length: > 0 } given ? given : null;
        var options = new TlsServerOptions
        {
            CertificateFile = path,
            KeyFile = named["KeyPath"] ?? string.Empty,
            PasswordFile = password is null ? string.Empty : $"{Section}:Password",
        };
        return new WatchedCertificate(options, Section, logger, password, time);
    }
}
