using System.Diagnostics;
using System.Text;
using System.Threading.Channels;

namespace FastPort.OpcBridge.Tests;

/// <summary>
/// FastPort.OpcBridge as a real process, in a directory of its own. All it writes is read, every wait is bounded, and it is ended by its id
/// when disposed.
/// </summary>
internal sealed class BridgeProcess : IAsyncDisposable
{
    private const string Mark = "listening on ";
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly Process _process;
    private readonly StringBuilder _output = new();
    private readonly StringBuilder _errors = new();
    private readonly TaskCompletionSource<string> _listening = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Channel<string> _endpoints = Channel.CreateUnbounded<string>();
    private readonly Task _reading;

    private BridgeProcess(string directory, string[] arguments, (string Key, string Value)[] environment)
    {
        Directory = directory;
        var start = new ProcessStartInfo(
            Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet",
            [Path.Combine(AppContext.BaseDirectory, "FastPort.OpcBridge.dll"), .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = directory,
        };

        // What the runtime's diagnostics have in the temporary directory stays there when a process is killed.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        foreach ((string key, string value) in environment)
        {
            start.Environment[key] = value;
        }

        _process = Process.Start(start)!;
        _reading = Task.WhenAll(ReadAsync(_process.StandardOutput, _output), ReadAsync(_process.StandardError, _errors));
    }

    /// <summary>The process's working directory.</summary>
    public string Directory { get; }

    /// <summary>What it wrote to standard error.</summary>
    public string Errors
    {
        get
        {
            lock (_errors)
            {
                return _errors.ToString();
            }
        }
    }

    public static BridgeProcess Start(string[] arguments, params (string Key, string Value)[] environment) =>
        new(System.IO.Directory.CreateTempSubdirectory("bridge-").FullName, arguments, environment);

    /// <summary><c>simulate</c> on a free port, with its certificates in its directory.</summary>
    public static BridgeProcess Simulate(params string[] arguments) => SimulateAt("opc.tcp://127.0.0.1:0", arguments);

    /// <summary><c>simulate</c> at an address, with its certificates in its directory.</summary>
    public static BridgeProcess SimulateAt(string url, params string[] arguments) => Start(
        ["simulate", "--listen", url, .. arguments], ("OpcUaServer__Certificates__Directory", "pki"));

    /// <summary>The endpoint that it says it listens on.</summary>
    public async Task<string> ListeningAsync() =>
        await Task.WhenAny(_listening.Task, _reading).WaitAsync(Limit) == _listening.Task
            ? await _listening.Task
            : throw new InvalidOperationException($"The program ended. It wrote:\n{_output}\n{Errors}");

    /// <summary>The endpoint of a scheme that it says it listens on; each, where it has several, in the order of its lines.</summary>
    public async Task<string> ListeningAsync(string scheme)
    {
        await ListeningAsync();
        using var limit = new CancellationTokenSource(Limit);
        await foreach (string endpoint in _endpoints.Reader.ReadAllAsync(limit.Token))
        {
            if (endpoint.StartsWith(scheme + "://", StringComparison.Ordinal))
            {
                return endpoint;
            }
        }

        throw new InvalidOperationException($"The program ended. It wrote:\n{_output}\n{Errors}");
    }

    /// <summary>Asks this one process to end, as a service manager does. Returns its exit code.</summary>
    public async Task<int> TerminateAsync()
    {
        using Process kill = Process.Start("kill", ["-TERM", $"{_process.Id}"]);
        await kill.WaitForExitAsync();
        return await ExitAsync();
    }

    /// <summary>Its exit code, after all it wrote was read.</summary>
    public async Task<int> ExitAsync()
    {
        await _process.WaitForExitAsync().WaitAsync(Limit);
        await _reading.WaitAsync(Limit);
        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        await ExitAsync();
        _process.Dispose();
        System.IO.Directory.Delete(Directory, recursive: true);
    }

    private async Task ReadAsync(StreamReader reader, StringBuilder text)
    {
        while (await reader.ReadLineAsync() is { } line)
        {
            lock (text)
            {
                text.AppendLine(line);
            }

            if (line.StartsWith(Mark, StringComparison.Ordinal))
            {
                _listening.TrySetResult(line[Mark.Length..]);
                _endpoints.Writer.TryWrite(line[Mark.Length..]);
            }
        }
    }
}
