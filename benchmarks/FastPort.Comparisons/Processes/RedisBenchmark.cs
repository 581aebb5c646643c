using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace FastPort.Comparisons.Processes;

/// <summary>Commands to a server of Redis by its own programs, and the CPU time that they cost it.</summary>
internal sealed class RedisBenchmark(RedisServer redis, Workbench bench)
{
    private const double LimitSeconds = 120;

    private readonly string _port = redis.Connection.Split(':')[1];

    /// <summary>Which program is missing; null if none is.</summary>
    public static string? Missing() =>
        ProgramLocator.FindTool("redis-benchmark") is null || ProgramLocator.FindTool("redis-cli") is null
            ? "redis-benchmark and redis-cli are missing (package redis-tools)" : null;

    /// <summary>Says one command.</summary>
    /// <returns>The answer, of one line.</returns>
    public async Task<string> SayAsync(CancellationToken cancellation, params string[] command) =>
        (await RunAsync("redis-cli", ["-p", _port, .. command], cancellation)).Trim();

    /// <summary>Runs a command many times on 16 connections; <c>__rand_int__</c> in it is a number below a million.</summary>
    /// <returns>Microseconds of Redis's CPU time a command.</returns>
    public async Task<double> CostAsync(int count, int pipelined, CancellationToken cancellation, params string[] command)
    {
        TimeSpan before = CpuOf(redis);
        await RunAsync(
            "redis-benchmark",
            ["-p", _port, "-c", "16", "-n", Invariant.Text(count), "-P", Invariant.Text(pipelined), "-r", "1000000", "-q", .. command],
            cancellation);
        return (CpuOf(redis) - before).TotalMicroseconds / count;
    }

    /// <summary>Subscribes to a channel and reads what comes, until the end of the result.</summary>
    public async Task<IDisposable> SubscribeAsync(string channel, CancellationToken cancellation)
    {
        var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, int.Parse(_port, CultureInfo.InvariantCulture), cancellation);
        NetworkStream stream = client.GetStream();
        await stream.WriteAsync(Encoding.ASCII.GetBytes($"SUBSCRIBE {channel}\r\n"), cancellation);
        byte[] buffer = new byte[1 << 20];
        if (await stream.ReadAsync(buffer, cancellation) == 0)
        {
            throw new ComparisonException("Redis did not take the subscription");
        }

        _ = ReadAsync();
        return client;

        async Task ReadAsync()
        {
            try
            {
                while (await stream.ReadAsync(buffer, CancellationToken.None) > 0)
                {
                    // Only that Redis is rid of it.
                }
            }
            catch (Exception exception) when (exception is IOException or ObjectDisposedException)
            {
                // The subscription is over.
            }
        }
    }

    private static TimeSpan CpuOf(RedisServer server)
    {
        using var process = Process.GetProcessById(server.Id);
        return process.TotalProcessorTime;
    }

    private Task<string> RunAsync(string tool, string[] arguments, CancellationToken cancellation) => bench.RunAsync(
        $"{tool} {string.Join(' ', arguments)}", [ProgramLocator.FindTool(tool)!, .. arguments], LimitSeconds, cancellation);
}
