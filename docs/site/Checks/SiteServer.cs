using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.FileProviders;
using Microsoft.Extensions.Logging;

namespace FastPort.Site.Checks;

/// <summary>Serves the site on this machine: its search and navigation are loaded by scripts, which browsers refuse for files.</summary>
internal sealed class SiteServer : IAsyncDisposable
{
    private readonly WebApplication _application;

    private SiteServer(WebApplication application) => _application = application;

    public Uri Url => new(_application.Urls.First());

    public static async Task<SiteServer> StartAsync(string site)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        WebApplication application = builder.Build();
        application.UseFileServer(new FileServerOptions { FileProvider = new PhysicalFileProvider(site) });
        await application.StartAsync();
        return new SiteServer(application);
    }

    public ValueTask DisposeAsync() => _application.DisposeAsync();
}
