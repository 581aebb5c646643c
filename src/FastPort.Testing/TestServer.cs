using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Testing;

/// <summary>
/// A server in a separate host, and a client that is connected to it over a link within the process: no port, no socket, no certificate.
/// Everything else is as in production. Servers do not affect each other, so tests with separate servers may run in parallel. Thread-safe.
/// </summary>
public sealed class TestServer : IAsyncDisposable
{
    private static int _count;

    private readonly IHost _host;
    private readonly string _endpoint;

    private TestServer(IHost host, string endpoint)
    {
        _host = host;
        _endpoint = endpoint;
        Server = host.Services.GetRequiredService<FastPortServer>();
    }

    /// <summary>The server.</summary>
    public FastPortServer Server { get; }

    /// <summary>A client that is connected to the server, with the default options and no handlers.</summary>
    public FastPortClient Client { get; private set; } = null!;

    /// <summary>The host's services.</summary>
    public IServiceProvider Services => _host.Services;

    /// <summary>Starts a server and connects <see cref="Client"/> to it.</summary>
    /// <param name="configure">
    /// Registers services as a program does, with <c>MapService</c> or <c>Map</c>; what they need, or fakes of it, goes to
    /// <see cref="FastPortBuilder.Services"/>.
    /// </param>
    /// <param name="log">
    /// Receives warnings and errors of the server and of the clients on any thread, such as the exception of a handler whose caller gets
    /// Internal: for example the WriteLine of a test's output. Defaults to the standard error of the process.
    /// </param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="Microsoft.Extensions.Options.OptionsValidationException">Options are out of range.</exception>
    /// <exception cref="AggregateException">The container cannot create a registered class; the message names what is missing.</exception>
    public static async Task<TestServer> StartAsync(
        Action<FastPortBuilder> configure, Action<string>? log = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(configure);
        string endpoint = $"inproc://fastport-test-{Interlocked.Increment(ref _count)}";
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(settings: null);

        // A missing service fails the start, and not the first call.
        builder.ConfigureContainer(
            new DefaultServiceProviderFactory(new ServiceProviderOptions { ValidateOnBuild = true, ValidateScopes = true }));
        builder.Logging.AddProvider(new TestLog(log ?? Console.Error.WriteLine));
        configure(builder.Services.AddFastPort(builder.Configuration, options => options.Endpoints = [endpoint]));
        var server = new TestServer(builder.Build(), endpoint);
        try
        {
            await server._host.StartAsync(cancellationToken).ConfigureAwait(false);
            server.Client = await server.ConnectAsync(cancellationToken: cancellationToken).ConfigureAwait(false);
            return server;
        }
        catch
        {
            await server.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Connects another client. The caller disposes it.</summary>
    /// <param name="configure">Changes its options, such as its routing id or token. Defaults to nothing.</param>
    /// <param name="handlers">Its handlers for unsolicited messages of the server. Defaults to none.</param>
    /// <param name="cancellationToken">Cancels the connection attempt.</param>
    /// <exception cref="RequestFailedException">The server refused the client.</exception>
    public async Task<FastPortClient> ConnectAsync(
        Action<FastPortClientOptions>? configure = null, MessageHandlers? handlers = null, CancellationToken cancellationToken = default)
    {
        var options = new FastPortClientOptions { Endpoint = _endpoint };
        configure?.Invoke(options);
        var client = new FastPortClient(options, handlers, _host.Services.GetRequiredService<ILoggerFactory>());
        try
        {
            await client.ConnectAsync(cancellationToken).ConfigureAwait(false);
            return client;
        }
        catch
        {
            await client.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Closes <see cref="Client"/>, and stops and disposes the host.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Client is not null)
        {
            await Client.DisposeAsync().ConfigureAwait(false);
        }

        await _host.StopAsync().ConfigureAwait(false);
        _host.Dispose();
    }
}
