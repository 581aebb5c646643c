using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using Xunit;

namespace FastPort.Client.Tests.Processes;

/// <summary>The built program as a child process, in a directory of its own.</summary>
internal sealed class ClientProcess : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);
    private readonly StringBuilder _output = new();
    private readonly Process _process;

    public ClientProcess(string directory, string[] args, params (string Name, string Value)[] environment)
        : this(AppContext.BaseDirectory, directory, args, environment)
    {
    }

    private ClientProcess(string program, string directory, string[] args, (string Name, string Value)[] environment)
    {
        var start = new ProcessStartInfo(
            Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet")
        {
            UseShellExecute = false,
            WorkingDirectory = directory,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.ArgumentList.Add(Path.Combine(program, "FastPort.Client.dll"));
        foreach (string arg in args)
        {
            start.ArgumentList.Add(arg);
        }

        foreach ((string name, string value) in environment)
        {
            start.Environment[name] = value;
        }

        _process = Process.Start(start)!;
        Error = _process.StandardError.ReadToEndAsync();
    }

    /// <summary>A copy of the program with another appsettings.json; null for none.</summary>
    public static ClientProcess StartWithSettings(string directory, string? json, string[] args)
    {
        string program = Directory.CreateDirectory(Path.Combine(directory, "program")).FullName;
        foreach (string file in Directory.EnumerateFiles(AppContext.BaseDirectory)
            .Where(static f => Path.GetFileName(f) != "appsettings.json"))
        {
            File.Copy(file, Path.Combine(program, Path.GetFileName(file)));
        }

        if (json is not null)
        {
            File.WriteAllText(Path.Combine(program, "appsettings.json"), json);
        }

        return new ClientProcess(program, directory, args, []);
    }

    public Task<string> Error { get; }

    public string Output => _output.ToString();

    public int CountLoops() => LoopThreads.Count(_process.Id);

    /// <summary>Reads standard output up to the line that begins so.</summary>
    public async Task ReadToAsync(string beginning)
    {
        using var patience = new CancellationTokenSource(Patience);
        while (await _process.StandardOutput.ReadLineAsync(patience.Token) is { } line)
        {
            _output.Append(line).Append('\n');
            if (line.StartsWith(beginning, StringComparison.Ordinal))
            {
                return;
            }
        }

        Assert.Fail($"No line began with '{beginning}'.\n{Output}\n{await Error}");
    }

    public void Signal(PosixSignal signal) => Assert.Equal(0, Kill(_process.Id, signal == PosixSignal.SIGINT ? 2 : 15));

    /// <summary>Waits for the end and returns the exit code.</summary>
    public async Task<int> EndAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        _output.Append(await _process.StandardOutput.ReadToEndAsync(patience.Token));
        await _process.WaitForExitAsync(patience.Token);
        return _process.ExitCode;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        _process.Dispose();
    }

    [DllImport("libc", EntryPoint = "kill")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Kill(int process, int signal);
}
