using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OwnMessages;

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

    public sealed class Player([FromKeyedServices("game")] IFastPortClient game)
    {
        public Task<Position> MoveAsync() => new PlayerClient(game).MoveAsync(new Step { Dx = 1 });
    }

    // docs: end
}
