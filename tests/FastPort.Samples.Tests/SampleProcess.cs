using System.Diagnostics;
using System.Text;

namespace FastPort.Samples.Tests;

/// <summary>
/// A sample or another program as a child process. It is killed by its id when it is still there at the end, with what it started.
/// </summary>
internal sealed class SampleProcess : IDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);
    private readonly Process _process;
    private readonly Task<string> _errors;
    private readonly StringBuilder _output = new();

    private SampleProcess(Process process)
    {
        _process = process;
        _errors = process.StandardError.ReadToEndAsync();
    }

    /// <summary>What has been read of standard output.</summary>
    public string Output => _output.ToString();

    public static SampleProcess Start(string sample, params string[] arguments) =>
        StartProgram(Path.Combine("samples", sample), arguments);

    /// <summary>Starts the program of a project.</summary>
    public static SampleProcess StartProgram(string folder, params string[] arguments)
    {
        string program = Repository.Program(folder);
        var start = new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [program, .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = Path.GetDirectoryName(program),
        };

        // What the runtime's diagnostics have in the temporary directory stays there when a process is killed.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return new SampleProcess(Process.Start(start)!);
    }

    /// <summary>Reads up to a line that contains a text and returns what follows the text, up to a space or ';'.</summary>
    public async Task<string> ReadWordAfterAsync(string text)
    {
        using var limit = new CancellationTokenSource(Limit);
        while (await _process.StandardOutput.ReadLineAsync(limit.Token) is { } line)
        {
            _output.AppendLine(line);
            int at = line.IndexOf(text, StringComparison.Ordinal);
            if (at >= 0)
            {
                return line[(at + text.Length)..].Split(' ', ';')[0];
            }
        }

        throw new InvalidOperationException($"The program ended without '{text}'. It wrote:\n{Output}\n{await _errors}");
    }

    /// <summary>Types a line.</summary>
    public void Type(string line) => _process.StandardInput.WriteLine(line);

    /// <summary>Ends the program's standard input.</summary>
    public void CloseInput() => _process.StandardInput.Close();

    /// <summary>Asks this one process to end, as a service manager does.</summary>
    public async Task TerminateAsync()
    {
        using Process kill = Process.Start("kill", ["-TERM", $"{_process.Id}"]);
        await kill.WaitForExitAsync();
    }

    /// <summary>Waits for the end and returns the exit code; what it wrote is in <see cref="Output"/>.</summary>
    public async Task<int> WaitAsync()
    {
        using var limit = new CancellationTokenSource(Limit);
        _output.Append(await _process.StandardOutput.ReadToEndAsync(limit.Token));
        await _process.WaitForExitAsync(limit.Token);
        _output.Append(await _errors);
        return _process.ExitCode;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
        }

        _process.Dispose();
    }
}
