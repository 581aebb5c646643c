using System.Runtime.CompilerServices;
using FastPort.Hosting;
using FastPort.Security;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Programs;

/// <summary>Identities, permissions and audit, where the configuration has them.</summary>
internal static class SecuritySection
{
    /// <summary>Whether section <c>Security</c> exists.</summary>
    public static bool HasSecurity(this IConfiguration configuration) => configuration.GetSection(SecurityOptions.SectionName).Exists();

    /// <summary>Adds them if the section exists; nothing of them is loaded otherwise.</summary>
    public static FastPortBuilder AddSecurityIfConfigured(this FastPortBuilder builder, IConfiguration configuration) =>
        configuration.HasSecurity() ? Add(builder, configuration) : builder;

    // A separate method: compiling a method that calls into an assembly loads the assembly.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FastPortBuilder Add(FastPortBuilder builder, IConfiguration configuration) => builder.AddSecurity(configuration);
}
