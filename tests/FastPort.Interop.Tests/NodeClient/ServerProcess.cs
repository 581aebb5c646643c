using System.Diagnostics;
using FastPort.Interop.Tests.Peers;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>A server as a program of its own. It ends when its input does, and is killed by its id if it does not.</summary>
internal sealed class ServerProcess : IAsyncDisposable
{
    /// <summary>The environment variable that names the program: FastPort.AotServer, published.</summary>
    public const string Variable = "FASTPORT_TEST_SERVER";

    private const string Prefix = "listening on ";

    private readonly Process _process;

    private ServerProcess(Process process, int port)
    {
        _process = process;
        Port = port;
    }

    /// <summary>The program to start; null where none is named.</summary>
    public static string? Program => Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } program ? program : null;

    public int Port { get; }

    public static async Task<ServerProcess> StartAsync(string program)
    {
        Process process = Process.Start(new ProcessStartInfo(program, "tcp://127.0.0.1:0")
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        using var limit = new CancellationTokenSource(NodeProcess.Limit);
        string? line = await process.StandardOutput.ReadLineAsync(limit.Token);
        return line?.StartsWith(Prefix, StringComparison.Ordinal) == true
            ? new ServerProcess(process, Endpoint.Parse(line[Prefix.Length..]).Port)
            : throw new InvalidOperationException($"{program} said '{line}' in place of '{Prefix}...'.");
    }

    public async ValueTask DisposeAsync()
    {
        _process.StandardInput.Close();
        using var limit = new CancellationTokenSource(NodeProcess.Limit);
        try
        {
            await _process.WaitForExitAsync(limit.Token);
            if (_process.ExitCode != 0)
            {
                throw new InvalidOperationException($"The server ended with exit code {_process.ExitCode}.");
            }
        }
        catch (OperationCanceledException)
        {
            _process.Kill();
            throw;
        }
        finally
        {
            _process.Dispose();
        }
    }
}
