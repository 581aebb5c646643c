using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>A hosted server with all parts, shown in the packages' README files.</summary>
internal static class PackageSnippets
{
    // docs: host
    public static IHost Server(string[] args)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddFastPort(builder.Configuration)
            .Map(static handlers => handlers.MapDiagnostics())
            .AddSecurity(builder.Configuration)
            .AddRedisBackplane(builder.Configuration);
        builder.Services.AddFastPortDashboard(builder.Configuration);
        return builder.Build();
    }

    // docs: end
}
