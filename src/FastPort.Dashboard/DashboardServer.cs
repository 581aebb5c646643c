using System.Net.Sockets;
using System.Security.Cryptography;
using FastPort.Configuration;
using FastPort.Dashboard.Hosting;
using FastPort.Dashboard.Live;
using FastPort.Dashboard.Security;
using FastPort.Dashboard.Tags;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard;

/// <summary>
/// The dashboard of a host: a separate web application that starts before the host's servers and ends after them, so that it shows how they
/// start and drain.
/// </summary>
public sealed class DashboardServer : IHostedLifecycleService, IAsyncDisposable
{
    private readonly DashboardOptions _options;
    private readonly IServiceProvider _services;
    private readonly IConfiguration _configuration;
    private WebApplication? _application;
    private LiveFeed? _feed;
    private WatchedCertificate? _certificate;

    internal DashboardServer(DashboardOptions options, IServiceProvider services, IConfiguration configuration)
    {
        _options = options;
        _services = services;
        _configuration = configuration;
    }

    /// <summary>The address on which the dashboard listens, with the bound port; null while it does not listen.</summary>
    public Uri? Url { get; private set; }

    /// <summary>Ends the streams of open pages, stops listening, and releases the certificate.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _feed, null) is { } feed)
        {
            await feed.StopAsync().ConfigureAwait(false);
        }

        if (Interlocked.Exchange(ref _application, null) is { } application)
        {
            Url = null;
            await application.DisposeAsync().ConfigureAwait(false);
        }

        _certificate?.Dispose();
    }

    async Task IHostedLifecycleService.StartingAsync(CancellationToken cancellationToken)
    {
        if (!DashboardUrl.TryParse(_options.Url, out DashboardUrl? url))
        {
            // Not configured. Any other text that is not a URL was refused with the options.
            return;
        }

        // Resolved only now: without a URL nothing of it is created.
        ILoggerFactory loggers = NamedServices.LoggerFactory(_services);
        try
        {
            _certificate = url.IsSecure
                ? DashboardCertificate.Watch(
                    _configuration, loggers.CreateLogger<DashboardServer>(), _services.GetRequiredService<TimeProvider>())
                : null;
            _application = WebHost.Create(
                url,
                _configuration,
                _certificate,
                _services.GetRequiredService<AccessMiddleware>(),
                _services.GetServices<IDashboardEndpoints>(),
                loggers);
            await _application.StartAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or SocketException or CryptographicException or InvalidOperationException
            or FastPortOptionsException)
        {
            throw Failed(url, e);
        }

        Url = new Uri(_application.Urls.First());
        PageOrigins.Allow(
            NamedServices.Get<FastPortServer>(_services, _options.ServerName),
            NamedServices.Options<FastPortServerOptions>(_services, _options.ServerName).WebSocket,
            Url,
            _options);
        _feed = _services.GetRequiredService<LiveFeed>();
        _feed.Start();
        DashboardLog.Listening(loggers.CreateLogger<DashboardServer>(), Url.GetLeftPart(UriPartial.Authority));
    }

    Task IHostedService.StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    Task IHostedLifecycleService.StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    Task IHostedLifecycleService.StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    Task IHostedService.StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    // Last: after every hosted service has stopped.
    async Task IHostedLifecycleService.StoppedAsync(CancellationToken cancellationToken)
    {
        _services.GetRequiredService<HostState>().IsStopped = true;
        if (_feed is { } feed)
        {
            await feed.StopAsync().ConfigureAwait(false);
        }

        if (_application is { } application)
        {
            await application.StopAsync(CancellationToken.None).ConfigureAwait(false);
        }

        await DisposeAsync().ConfigureAwait(false);
    }

    private static EndpointException Failed(DashboardUrl url, Exception e)
    {
        var endpoint = Endpoint.Parse($"tcp{url.ToString()[url.Scheme.Length..]}");
        string why = e switch
        {
            { InnerException: AddressInUseException } =>
                "another program listens there; stop it, or choose another port with --dashboard or Dashboard:Url.",
            CryptographicException =>
                $"its certificate cannot be read. {e.Message} Give a certificate and its password in Dashboard:Certificate.",
            FastPortOptionsException unusable => string.Join(' ', unusable.Problems),
            SocketException => $"{e.Message}. Give an address of this machine and a port that this user may open.",
            _ => e.Message,
        };
        return new EndpointException(endpoint, $"The dashboard cannot listen on {url}: {why}", e);
    }
}
