using FastPort.Dashboard.Hosting;
using FastPort.Transports;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard;

/// <summary>
/// The dashboard of a host: a web application of its own that starts before the host's servers and ends after them, so that it shows how
/// they start and drain.
/// </summary>
public sealed class DashboardServer : IHostedLifecycleService, IAsyncDisposable
{
    private readonly DashboardOptions _options;
    private readonly IConfiguration _configuration;
    private readonly IEnumerable<IDashboardEndpoints> _endpoints;
    private readonly ILoggerFactory _loggers;
    private WebApplication? _application;

    internal DashboardServer(
        DashboardOptions options, IConfiguration configuration, IEnumerable<IDashboardEndpoints> endpoints, ILoggerFactory loggers)
    {
        _options = options;
        _configuration = configuration;
        _endpoints = endpoints;
        _loggers = loggers;
    }

    /// <summary>Where the dashboard listens, with the bound port; null when it does not.</summary>
    public Uri? Url { get; private set; }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _application, null) is { } application)
        {
            Url = null;
            await application.DisposeAsync().ConfigureAwait(false);
        }
    }

    async Task IHostedLifecycleService.StartingAsync(CancellationToken cancellationToken)
    {
        if (!DashboardUrl.TryParse(_options.Url, out DashboardUrl? url))
        {
            // Not configured. Another text that is no URL was refused with the options.
            return;
        }

        _application = WebHost.Create(url, _options, _configuration, _endpoints, _loggers);
        try
        {
            await _application.StartAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or InvalidOperationException)
        {
            throw Failed(url, e);
        }

        Url = new Uri(_application.Urls.First());
    }

    Task IHostedService.StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    Task IHostedLifecycleService.StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    Task IHostedLifecycleService.StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    Task IHostedService.StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    // Last: after every hosted service has stopped.
    async Task IHostedLifecycleService.StoppedAsync(CancellationToken cancellationToken)
    {
        if (_application is { } application)
        {
            await application.StopAsync(CancellationToken.None).ConfigureAwait(false);
        }

        await DisposeAsync().ConfigureAwait(false);
    }

    private static EndpointException Failed(DashboardUrl url, Exception e)
    {
        var endpoint = Endpoint.Parse($"tcp://{(url.Host.Contains(':', StringComparison.Ordinal) ? $"[{url.Host}]" : url.Host)}:{url.Port}");
        string why = e.InnerException is AddressInUseException || e is IOException { InnerException: AddressInUseException }
            ? "another program listens there; stop it, or choose another port with --dashboard or Dashboard:Url."
            : $"{e.Message}";
        return new EndpointException(endpoint, $"The dashboard cannot listen on {url}: {why}", e);
    }
}
