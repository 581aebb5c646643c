using System.Threading.Channels;
using FastPort.Connections;

namespace FastPort.Conformance.Serving;

/// <summary>The server of one case: an endpoint of its own, whose connections do what the steps of the case say.</summary>
internal sealed class ScriptedServer : IAsyncDisposable
{
    private readonly Channel<ScriptedConnection> _accepted = Channel.CreateUnbounded<ScriptedConnection>();
    private readonly List<ScriptedConnection> _all = [];
    private readonly ConnectionServer _server;

    private ScriptedServer(Site site)
    {
        // The options of a server of frames: they are those that know WebSockets.
        var options = new FastPortServerOptions
        {
            Endpoints = { site.NewEndpoint() },
            Loops = 1,
            ShutdownTimeout = TimeSpan.Zero,
            ShutdownGrace = TimeSpan.Zero,
            WebSocket = { AllowedOrigins = { "*" } },
        };
        if (site.IsEncrypted)
        {
            options.Tls.CertificateFile = site.Certificate.CertificateFile;
            options.Tls.KeyFile = site.Certificate.KeyFile;
        }

        _server = new ConnectionServer(options, connection => new ScriptedConnection(connection, OnOpened));
    }

    /// <summary>Where clients connect to.</summary>
    public string Endpoint => _server.Endpoints[0].ToString();

    public static async Task<ScriptedServer> StartAsync(Site site)
    {
        var server = new ScriptedServer(site);
        await server._server.StartAsync().ConfigureAwait(false);
        return server;
    }

    /// <summary>The next connection.</summary>
    public ValueTask<ScriptedConnection> AcceptAsync(CancellationToken cancellationToken) =>
        _accepted.Reader.ReadAsync(cancellationToken);

    /// <summary>Stops listening and cuts all connections.</summary>
    public async ValueTask DisposeAsync()
    {
        ScriptedConnection[] all;
        lock (_all)
        {
            all = [.. _all];
        }

        foreach (ScriptedConnection connection in all)
        {
            _ = connection.CutAsync();
        }

        await _server.DisposeAsync().ConfigureAwait(false);
    }

    private void OnOpened(ScriptedConnection connection)
    {
        lock (_all)
        {
            _all.Add(connection);
        }

        _accepted.Writer.TryWrite(connection);
    }
}
