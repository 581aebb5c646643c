using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text.RegularExpressions;

namespace ThreeNodes.Processes;

/// <summary>HAProxy in front of the nodes, with docs/haproxy/haproxy.cfg for the addresses of this run.</summary>
internal sealed partial class Balancer : IAsyncDisposable
{
    private static readonly TimeSpan CheckInterval = TimeSpan.FromMilliseconds(100);

    private readonly Child _process;
    private readonly string _admin;

    private Balancer(Child process, int port, string admin)
    {
        _process = process;
        _admin = admin;
        Endpoint = $"tcp://127.0.0.1:{port}";
    }

    public static string? Program { get; } = Child.Find("haproxy");

    public string Endpoint { get; }

    public static async Task<Balancer> StartAsync(
        int port, IReadOnlyList<Node> nodes, string directory, CancellationToken cancellationToken)
    {
        string admin = Path.Combine(directory, "admin.sock");
        string file = Path.Combine(directory, "haproxy.cfg");
        string text = await File.ReadAllTextAsync(Path.Combine(AppContext.BaseDirectory, "haproxy.cfg"), cancellationToken);
        text = text.Replace("/run/haproxy/admin.sock", admin, StringComparison.Ordinal)
            .Replace("bind :6628", $"bind 127.0.0.1:{port}", StringComparison.Ordinal);
        text = ServerLine().Replace(text, line =>
        {
            Node node = nodes.Single(one => one.Name == line.Groups[1].Value);
            return string.Create(
                CultureInfo.InvariantCulture, $"server {node.Name} 127.0.0.1:{node.Port} check port {node.HealthPort}");
        });
        await File.WriteAllTextAsync(file, text, cancellationToken);
        Child process = await Child.StartAsync("haproxy", new ProcessStartInfo(Program!, ["-db", "-f", file]), null, cancellationToken);
        var balancer = new Balancer(process, port, admin);
        try
        {
            foreach (Node node in nodes)
            {
                await balancer.WaitUntilUpAsync(node, cancellationToken);
            }

            return balancer;
        }
        catch
        {
            await balancer.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until HAProxy sends connections to a node, as an operator does before the next restart.</summary>
    public async Task WaitUntilUpAsync(Node node, CancellationToken cancellationToken)
    {
        while (!await IsUpAsync(node, cancellationToken))
        {
            await Task.Delay(CheckInterval, cancellationToken);
        }
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();

    // Columns of `show stat`: proxy, server, ..., and the state as the 18th.
    private async Task<bool> IsUpAsync(Node node, CancellationToken cancellationToken)
    {
        await _process.CheckAsync();
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            await socket.ConnectAsync(new UnixDomainSocketEndPoint(_admin), cancellationToken);
        }
        catch (SocketException)
        {
            // It has only begun.
            return false;
        }

        await using var stream = new NetworkStream(socket);
        await stream.WriteAsync("show stat\n"u8.ToArray(), cancellationToken);
        using var reader = new StreamReader(stream);
        string[] lines = (await reader.ReadToEndAsync(cancellationToken)).Split('\n');

        // Up, and checked: before the first check a server is taken to be up.
        return lines.Select(static line => line.Split(',')).Any(row =>
            row.Length > 36 && row[1] == node.Name && row[17] == "UP" && row[36].StartsWith("L7OK", StringComparison.Ordinal));
    }

    [GeneratedRegex(@"server (node-\w+) \S+ check port \d+")]
    private static partial Regex ServerLine();
}
