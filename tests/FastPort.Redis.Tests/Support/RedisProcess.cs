using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>An empty redis-server as a child process, which is killed by its id at the end.</summary>
internal sealed class RedisProcess : IAsyncDisposable
{
    private static readonly string? Program = PeerPrograms.Find("redis-server");

    private const string ServerIsReady = "Ready to accept connections";

    private readonly string[] _arguments;
    private readonly string _ready;

    // Null in a network of its own, where nobody else is.
    private readonly HeldPort? _held;
    private Process? _process;

    private RedisProcess(Process process, int port, HeldPort? held, string[] arguments, string ready)
    {
        _process = process;
        _held = held;
        _arguments = arguments;
        _ready = ready;
        Port = port;
    }

    public int Id => _process!.Id;

    /// <summary>That it is missing and how to get it; null where it is there.</summary>
    public static string? Problem =>
        Program is null ? "There is no redis-server: install it, in Debian with `apt-get install redis-server`." : null;

    public int Port { get; }

    public string Connection => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{Port}");

    public static Task<RedisProcess> StartAsync(params string[] options) => StartAsync(_ => options);

    /// <summary>Starts a server with options that depend on its port; those for the port itself can be among them.</summary>
    public static Task<RedisProcess> StartAsync(Func<int, string[]> options) =>
        StartAsync(port => ServerArguments(port, options(port)), ServerIsReady);

    /// <summary>Starts the program.</summary>
    /// <param name="arguments">Its arguments, by the port.</param>
    /// <param name="ready">What it prints when it has the port.</param>
    public static async Task<RedisProcess> StartAsync(Func<int, string[]> arguments, string ready)
    {
        Assert.True(Program is not null, Problem);
        for (int attempt = 0; ; attempt++)
        {
            var port = new HeldPort();
            string[] chosen = arguments(port.Number);
            Process process = Run(chosen);
            if (await IsReadyAsync(process, ready))
            {
                return new RedisProcess(process, port.Number, port, chosen, ready);
            }

            // Somebody else may have taken another one of its ports in the meantime, as that of a cluster's bus.
            process.Dispose();
            port.Dispose();
            Assert.True(attempt < 3, "redis-server does not start.");
        }
    }

    /// <summary>Redis in a network of its own, where it listens at port 6379 of every address, and at a Unix socket.</summary>
    public static async Task<RedisProcess> StartInNetworkAsync(string socket)
    {
        Assert.True(Program is not null, Problem);
        const int DefaultPort = 6379;
        string[] arguments = ServerArguments(DefaultPort, ["--bind", "0.0.0.0", "--protected-mode", "no", "--unixsocket", socket]);
        var redis = new RedisProcess(Run(arguments, NetworkNamespaces.Own), DefaultPort, null, arguments, ServerIsReady);
        if (!await IsReadyAsync(redis._process!, ServerIsReady))
        {
            await redis.DisposeAsync();
            Assert.Fail("redis-server does not start in a network of its own.");
        }

        return redis;
    }

    /// <summary>A port that is free now.</summary>
    public static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    public static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>Sends a signal by the command kill, for example STOP or CONT.</summary>
    public async Task SignalAsync(string signal)
    {
        using Process kill = Process.Start("kill", [$"-{signal}", _process!.Id.ToString(CultureInfo.InvariantCulture)]);
        await kill.WaitForExitAsync(Patience.Token);
        Assert.Equal(0, kill.ExitCode);
    }

    public async Task KillAsync()
    {
        if (_process is { } process)
        {
            _process = null;
            process.Kill();
            await process.WaitForExitAsync(Patience.Token);
            process.Dispose();
        }
    }

    /// <summary>Starts it again on the same port, empty.</summary>
    public async Task StartAgainAsync()
    {
        _process = Run(_arguments);
        Assert.True(await IsReadyAsync(_process, _ready), "redis-server does not start again.");
    }

    public async ValueTask DisposeAsync()
    {
        await KillAsync();
        _held?.Dispose();
    }

    private static string[] ServerArguments(int port, string[] options) =>
        ["--port", Text(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", .. options];

    private static Process Run(string[] arguments, params IEnumerable<string> launcher)
    {
        string[] command = [.. launcher, Program!, .. arguments];
        return Process.Start(new ProcessStartInfo(command[0], command[1..])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
        })!;
    }

    private static async Task<bool> IsReadyAsync(Process process, string ready)
    {
        while (await process.StandardOutput.ReadLineAsync(Patience.Token) is { } line)
        {
            if (line.Contains(ready, StringComparison.Ordinal))
            {
                // What it says later is read and dropped, so that it does not block.
                _ = process.StandardOutput.ReadToEndAsync(CancellationToken.None);
                return true;
            }
        }

        return false;
    }
}
