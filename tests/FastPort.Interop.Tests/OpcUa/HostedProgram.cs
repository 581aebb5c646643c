using System.Diagnostics;
using System.Text;
using FastPort.Interop.Tests.Peers;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>
/// A program on the generic host with its console log. All it writes is read. It is ended as a service manager does, and is killed by its
/// id if that does not help.
/// </summary>
internal sealed class HostedProgram : IAsyncDisposable
{
    private const string Mark = "Listening on ";

    private readonly Process _process;
    private readonly StringBuilder _output = new();
    private readonly TaskCompletionSource<string> _listening = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task _reading;

    private HostedProgram(Process process)
    {
        _process = process;
        _reading = Task.WhenAll(ReadAsync(process.StandardOutput), ReadAsync(process.StandardError));
    }

    /// <summary>The endpoint that it listens on.</summary>
    public string Endpoint { get; private set; } = string.Empty;

    public static async Task<HostedProgram> StartAsync(string program, string[] arguments)
    {
        var started = new HostedProgram(Process.Start(new ProcessStartInfo(program, arguments)
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!);
        Task first = await Task.WhenAny(started._listening.Task, started._reading, Task.Delay(NodeProcess.Limit));
        if (first != started._listening.Task)
        {
            started._process.Kill();
            throw new InvalidOperationException($"{program} did not say '{Mark}'. It wrote:\n{started._output}");
        }

        started.Endpoint = await started._listening.Task;
        return started;
    }

    public async ValueTask DisposeAsync()
    {
        using (Process kill = Process.Start("kill", ["-TERM", $"{_process.Id}"]))
        {
            await kill.WaitForExitAsync();
        }

        try
        {
            await _process.WaitForExitAsync().WaitAsync(NodeProcess.Limit);
            await _reading.WaitAsync(NodeProcess.Limit);
            if (_process.ExitCode != 0)
            {
                throw new InvalidOperationException($"The server ended with exit code {_process.ExitCode}. It wrote:\n{_output}");
            }
        }
        catch (TimeoutException)
        {
            _process.Kill();
            throw;
        }
        finally
        {
            _process.Dispose();
        }
    }

    private async Task ReadAsync(StreamReader reader)
    {
        while (await reader.ReadLineAsync() is { } line)
        {
            lock (_output)
            {
                _output.AppendLine(line);
            }

            if (line.IndexOf(Mark, StringComparison.Ordinal) is >= 0 and var at)
            {
                _listening.TrySetResult(line[(at + Mark.Length)..]);
            }
        }
    }
}
