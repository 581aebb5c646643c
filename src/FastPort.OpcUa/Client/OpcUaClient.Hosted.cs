using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.OpcUa.Client;

/// <content>A client that is created before it connects, so that services of a host can have it in their constructors.</content>
public sealed partial class OpcUaClient
{
    /// <summary>Creates a client of the endpoint in the options. Requests wait until it has connected.</summary>
    /// <exception cref="FastPortOptionsException">Options are not allowed; the message names each.</exception>
    internal static OpcUaClient Create(OpcUaClientOptions options, ILoggerFactory? loggerFactory, TimeProvider? time)
    {
        options.ThrowIfInvalid();
        ILogger logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<OpcUaClient>();
        return new OpcUaClient(options.EndpointUrl, options, logger, time);
    }

    /// <summary>
    /// Connects, or begins to if <see cref="ClientOptions.RetryConnect"/> is set. Called once.
    /// </summary>
    internal async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_options.RetryConnect)
        {
            _running = NoContext.Start(ConnectAndRunAsync);
            return;
        }

        SessionLink link = await _opener.OpenAsync(cancellationToken).ConfigureAwait(false);
        _publisher.Enter(link);
        if (Publish(link))
        {
            _running = NoContext.Start(() => RunAsync(link));
        }
    }

    private async Task ConnectAndRunAsync()
    {
        var delays = new ReconnectBackoff(_options.ReconnectDelay, _options.MaxReconnectDelay);
        if (await ReconnectAsync(delays).ConfigureAwait(false) is { } link)
        {
            await RunAsync(link).ConfigureAwait(false);
        }
    }
}
