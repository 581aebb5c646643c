using FastPort;
using FastPort.Configuration;
using FastPort.Security;
using FastPort.Security.Hosting;
using Microsoft.Extensions.Configuration;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds identities, permissions and an audit log to a FastPort server.</summary>
public static class SecurityRegistration
{
    /// <summary>
    /// Adds users, tokens, a policy and an audit log, as configuration section <c>Security</c> (<see cref="SecurityOptions"/>) specifies.
    /// If keys are unknown, values out of range or files not usable, the host does not start. An authenticator or authorizer that the
    /// application has set with <see cref="FastPortBuilder.ConfigureComponents"/> before keeps its place.
    /// </summary>
    /// <param name="builder">The server.</param>
    /// <param name="configuration">The host's configuration (its root), or the section, of any name.</param>
    /// <param name="configure">Changes the options after they were bound. Defaults to nothing.</param>
    public static FastPortBuilder AddSecurity(
        this FastPortBuilder builder, IConfiguration configuration, Action<SecurityOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configuration);
        IConfigurationSection section =
            configuration as IConfigurationSection ?? configuration.GetSection(SecurityOptions.SectionName);
        Options.OptionsBuilder<SecurityOptions> options = SectionOptions.Add<SecurityOptions>(
            builder.Services, builder.Name, section, section.Path);
        if (configure is not null)
        {
            options.Configure(configure);
        }

        string name = builder.Name;
        builder.Services.AddSingleton<Options.IValidateOptions<SecurityOptions>>(provider => new CertificateUsersCheck(
            name, section.Path, provider.GetRequiredService<Options.IOptionsMonitor<FastPortServerOptions>>()));
        NamedServices.AddSingleton(builder.Services, name, Create);
        NamedServices.AddSingleton(builder.Services, name, provider => Security(provider).Policy!);
        NamedServices.AddSingleton(builder.Services, name, provider => Security(provider).Users);
        return builder
            .ConfigureComponents((provider, components) => Security(provider).Apply(components))
            .OnSessionIdentified((provider, session) => Security(provider).Events.Identified(session))
            .OnHelloRefused((provider, session, refusal) => Security(provider).HelloRefused(session, refusal))
            .OnSessionClosed((provider, session, reason) => Security(provider).Events.Closed(session, reason))
            .OnCertificateChanged((provider, certificate) => Security(provider).Events.CertificateChanged(certificate));

        ServerSecurity Create(IServiceProvider provider) => new(
            NamedServices.Options<SecurityOptions>(provider, name),
            name,
            NamedServices.Options<FastPortServerOptions>(provider, name).Tls,
            provider.GetRequiredService<TimeProvider>(),
            NamedServices.LoggerFactory(provider).CreateLogger("FastPort.Security"),
            () => NamedServices.Get<FastPortServer>(provider, name).Routing);

        ServerSecurity Security(IServiceProvider provider) => NamedServices.Get<ServerSecurity>(provider, name);
    }
}
