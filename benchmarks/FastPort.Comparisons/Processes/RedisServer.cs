using System.Net;
using System.Net.Sockets;

namespace FastPort.Comparisons.Processes;

/// <summary>An empty redis-server of its own, which saves nothing.</summary>
internal sealed class RedisServer : IDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(10);
    private readonly Conversation _process;

    private RedisServer(Conversation process, int port)
    {
        _process = process;
        Connection = $"127.0.0.1:{Invariant.Text(port)}";
    }

    public int Id => _process.Id;

    public string Connection { get; }

    /// <summary>Why it cannot be started; null where it can.</summary>
    public static string? Missing() =>
        ProgramLocator.FindTool("redis-server") is null ? "redis-server is missing (package redis-server)" : null;

    public static async Task<RedisServer> StartAsync(Workbench bench, CancellationToken cancellation)
    {
        int port = FreePort();
        string[] command =
        [
            ProgramLocator.FindTool("redis-server")!, "--port", Invariant.Text(port), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no",
        ];
        var process = Conversation.Start("redis-server", bench.Pinning.On(bench.Pinning.Both, command), bench);
        try
        {
            while (!(await process.HearAsync(StartLimit, cancellation)).Contains("Ready to accept", StringComparison.Ordinal))
            {
                // The lines before say what it is.
            }

            return new RedisServer(process, port);
        }
        catch
        {
            process.Dispose();
            throw;
        }
    }

    public void Dispose() => _process.Dispose();

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
