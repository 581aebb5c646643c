using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.Hosting;

namespace FastPort.Aspire.Tests;

/// <summary>Code shown in docs/aspire.md.</summary>
internal static class AspireSnippets
{
    // docs: tls
    public static IResourceBuilder<FastPortServerResource> AddSecureServer(IDistributedApplicationBuilder builder, string certificate) =>
        builder.AddFastPortServer("game", "../Server/Server.csproj")
            .WithTls(useDevelopmentCertificate: false)
            .WithEnvironment("FastPort__Tls__CertificateFile", certificate);

    // docs: end

    // docs: keyed
    public static void AddClients(IHostApplicationBuilder builder)
    {
        builder.AddKeyedFastPortClient("game");
        builder.AddKeyedFastPortClient(
            "chat",
            settings => settings.DisableTracing = true,
            options => options.RequestTimeout = TimeSpan.FromSeconds(2));
    }

    // docs: end
}
