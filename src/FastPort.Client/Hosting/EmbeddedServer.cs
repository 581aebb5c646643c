using FastPort.Client.Load;
using FastPort.Protocol;
using Microsoft.Extensions.Logging;

namespace FastPort.Client.Hosting;

/// <summary>The server that a run without <c>--server</c> hosts in its process, on a port that the system chooses.</summary>
internal static class EmbeddedServer
{
    /// <summary>Sets what the run needs of the server's options.</summary>
    public static void Prepare(FastPortServerOptions options, LoadSettings settings)
    {
        options.Endpoints = ["tcp://127.0.0.1:0"];
        options.MaxConnections = Math.Max(options.ConnectionLimit, settings.Connections);
        options.MaxConnectionsPerAddress = 0;
    }

    /// <summary>Starts the server with the diagnostics handlers; the caller disposes it.</summary>
    public static async Task<FastPortServer> StartAsync(FastPortServerOptions options, ILoggerFactory loggerFactory)
    {
        var server = new FastPortServer(options, new MessageHandlers().MapDiagnostics(), loggerFactory: loggerFactory);
        await server.StartAsync().ConfigureAwait(false);
        return server;
    }
}
