using System.Net;
using System.Net.Security;
using System.Threading.RateLimiting;
using FastPort.Dashboard.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Hosting;

/// <summary>
/// Creates the dashboard's web application: Kestrel and routing, independent of the environment. Its services are separate, so that it
/// shares nothing with a host that is a web application itself.
/// </summary>
internal static class WebHost
{
    // Requests are answered in milliseconds, and event streams are ended by the dashboard.
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(2);

    private const int MaxConnections = 512;

    /// <summary>
    /// Connections of one address, for IPv6 of one /64 network: one host cannot use up those that health probes need. All pages may be open
    /// through one proxy.
    /// </summary>
    public const int MaxConnectionsPerAddress = MaxConnections / 4;

    public static WebApplication Create(
        DashboardUrl url,
        IConfiguration configuration,
        WatchedCertificate? certificate,
        AccessMiddleware access,
        IEnumerable<IDashboardEndpoints> endpoints,
        ILoggerFactory loggers)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddSingleton(loggers);
        builder.Services.AddRoutingCore();
        builder.Services.Configure<HostOptions>(static host => host.ShutdownTimeout = StopTimeout);

        // The host of the program handles signals; the dashboard outlives their first one.
        builder.Services.RemoveAll<IHostLifetime>();
        builder.Services.AddSingleton<IHostLifetime, NoLifetime>();
        builder.Services.AddSingleton(static _ => PartitionedRateLimiter.Create<EndPoint?, string>(static peer =>
            RateLimitPartition.GetConcurrencyLimiter(
                Ban.SubjectOf(peer) ?? string.Empty,
                static _ => new ConcurrencyLimiterOptions { PermitLimit = MaxConnectionsPerAddress })));
        builder.WebHost.UseKestrelCore().ConfigureKestrel(static kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MaxRequestBodySize = 16 * 1024;
            kestrel.Limits.MaxRequestLineSize = 4 * 1024;
            kestrel.Limits.MaxRequestHeadersTotalSize = 16 * 1024;
            kestrel.Limits.MaxConcurrentConnections = MaxConnections;
            kestrel.Limits.RequestHeadersTimeout = TimeSpan.FromSeconds(10);

            // Of connections without a request; an event stream is one request.
            kestrel.Limits.KeepAliveTimeout = TimeSpan.FromSeconds(10);
            var limiter = kestrel.ApplicationServices.GetRequiredService<PartitionedRateLimiter<EndPoint?>>();
            kestrel.ConfigureEndpointDefaults(endpoint => endpoint.Use(next => connection => ServeAsync(connection, next, limiter)));
        });
        if (url.IsSecure)
        {
            builder.WebHost.UseKestrelHttpsConfiguration();
        }

        if (certificate is not null)
        {
            builder.WebHost.ConfigureKestrel(kestrel => Listen(kestrel, url, certificate));
        }
        else
        {
            builder.WebHost.UseUrls(url.ToString());
            if (url.IsSecure)
            {
                builder.WebHost.ConfigureKestrel(kestrel => kestrel.Configure(DashboardCertificate.Configuration(configuration)));
            }
        }

        WebApplication application = builder.Build();
        application.UseRouting();
        application.Use(next => context => access.InvokeAsync(context, next));
        foreach (IDashboardEndpoints feature in endpoints)
        {
            feature.Map(application);
        }

        return application;
    }

    // If the limit is reached, the connection is closed.
    private static async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next, PartitionedRateLimiter<EndPoint?> limiter)
    {
        using RateLimitLease lease = limiter.AttemptAcquire(connection.RemoteEndPoint);
        if (lease.IsAcquired)
        {
            await next(connection).ConfigureAwait(false);
        }
    }

    // As a separate endpoint, because its certificate may change while it listens; Kestrel reads others once.
    private static void Listen(KestrelServerOptions kestrel, DashboardUrl url, WatchedCertificate certificate)
    {
        if (IPAddress.TryParse(url.Host, out IPAddress? address))
        {
            kestrel.Listen(address, url.Port, Encrypt);
        }
        else
        {
            kestrel.ListenLocalhost(url.Port, Encrypt);
        }

        void Encrypt(ListenOptions endpoint) => endpoint.UseHttps(new TlsHandshakeCallbackOptions
        {
            OnConnection = _ => ValueTask.FromResult(new SslServerAuthenticationOptions { ServerCertificateContext = certificate.Context }),
        });
    }

    private sealed class NoLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
