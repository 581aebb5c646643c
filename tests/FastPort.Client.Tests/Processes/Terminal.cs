using System.Diagnostics;
using System.Text;
using Xunit;

namespace FastPort.Client.Tests.Processes;

/// <summary>The built program at a pseudo-terminal of a given width.</summary>
internal sealed class Terminal : IDisposable
{
    private const string Script = "/usr/bin/script";

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private readonly StringBuilder _output = new();
    private readonly SemaphoreSlim _more = new(0);
    private readonly Process _process;
    private readonly Task _reading;

    public Terminal(string directory, int columns, string arguments, int rows = 50)
    {
        string dotnet = Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet";
        string program = Path.Combine(AppContext.BaseDirectory, "FastPort.Client.dll");
        var start = new ProcessStartInfo(
            Script, ["-qefc", $"stty cols {columns} rows {rows}; exec '{dotnet}' '{program}' {arguments}", "/dev/null"])
        {
            UseShellExecute = false,
            WorkingDirectory = directory,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        start.Environment["SHELL"] = "/bin/sh";
        start.Environment["TERM"] = "xterm";
        _process = Process.Start(start)!;
        _reading = ReadAsync();
    }

    /// <summary>Whether this machine can make one.</summary>
    public static bool Exists => File.Exists(Script);

    public string Output
    {
        get
        {
            lock (_output)
            {
                return _output.ToString();
            }
        }
    }

    public void Type(string keys)
    {
        _process.StandardInput.Write(keys);
        _process.StandardInput.Flush();
    }

    /// <summary>Waits until this was written.</summary>
    public async Task UntilAsync(string text)
    {
        using var patience = new CancellationTokenSource(Patience);
        while (!Output.Contains(text, StringComparison.Ordinal))
        {
            Assert.False(_reading.IsCompleted, $"'{text}' never came.\n{Output}");
            await _more.WaitAsync(patience.Token);
        }
    }

    /// <summary>Waits for the end and returns the exit code, 128 and the signal's number where a signal ended it.</summary>
    public async Task<int> EndAsync()
    {
        await _reading.WaitAsync(Patience);
        await _process.WaitForExitAsync().WaitAsync(Patience);
        return _process.ExitCode;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
        }

        _process.Dispose();
        _more.Dispose();
    }

    private async Task ReadAsync()
    {
        char[] buffer = new char[4096];
        int count;
        while ((count = await _process.StandardOutput.ReadAsync(buffer)) != 0)
        {
            lock (_output)
            {
                _output.Append(buffer, 0, count);
            }

            _more.Release();
        }

        _more.Release();
    }
}
