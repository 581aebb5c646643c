using System.Runtime.CompilerServices;
using FastPort.Security;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Programs.Hosting;

/// <summary>Adds identities, permissions and audit, if configured.</summary>
internal static class SecuritySection
{
    /// <summary>Whether section <c>Security</c> exists.</summary>
    public static bool HasSecurity(this IConfiguration configuration) => configuration.GetSection(SecurityOptions.SectionName).Exists();

    /// <summary>Adds them if the section exists; otherwise none of it is loaded.</summary>
    public static FastPortBuilder AddSecurityIfConfigured(this FastPortBuilder builder, IConfiguration configuration) =>
        configuration.HasSecurity() ? Add(builder, configuration) : builder;

    // A separate method: compiling a method that calls into an assembly loads the assembly.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FastPortBuilder Add(FastPortBuilder builder, IConfiguration configuration) => builder.AddSecurity(configuration);
}
