using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>
/// FastPort.Server as a real process, in a directory of its own. Its output is read all the time, every wait is bounded, and it is ended by
/// its id when disposed.
/// </summary>
internal sealed partial class ServerProcess : IAsyncDisposable
{
    public const int SigInt = 2;
    public const int SigKill = 9;
    public const int SigTerm = 15;
    public const int SigStop = 19;

    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly Process _process;
    private readonly TemporaryDirectory _directory;
    private readonly TaskCompletionSource<string> _listening = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Guarded by the text it is about, the standard output.
    private readonly List<(string Part, int Times, TaskCompletionSource Printed)> _awaited = [];
    private readonly StringBuilder _output = new();
    private readonly StringBuilder _errors = new();
    private readonly Task _reading;

    private ServerProcess(
        TemporaryDirectory directory,
        string program,
        string[] arguments,
        (string Key, string Value)[] environment,
        IReadOnlyList<string>? launcher = null)
    {
        _directory = directory;
        string[] command = [.. launcher ?? [], "dotnet", program, .. arguments];
        var start = new ProcessStartInfo(command[0], command[1..])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            RedirectStandardInput = true,
            UseShellExecute = false,
            WorkingDirectory = directory.Path,
        };

        // What the runtime's diagnostics have in the temporary directory stays there when a process is killed.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment["LatencyStats__OutputDirectory"] = Path.Combine(directory.Path, "Stats");
        foreach ((string key, string value) in environment)
        {
            start.Environment[key] = value;
        }

        _process = Process.Start(start)!;
        _reading = Task.WhenAll(ReadAsync(_process.StandardOutput, _output), ReadAsync(_process.StandardError, _errors));
    }

    public int Id => _process.Id;

    public string StatsDirectory => Path.Combine(_directory.Path, "Stats");

    public string Output => Snapshot(_output);

    public string Errors => Snapshot(_errors);

    public static ServerProcess Start(string[] arguments, params (string Key, string Value)[] environment) =>
        new(new TemporaryDirectory(), Path.Combine(AppContext.BaseDirectory, "FastPort.Server.dll"), arguments, environment);

    /// <summary>A command of FastPort.Client, whose program lies beside the tests too.</summary>
    public static ServerProcess StartClient(string[] arguments) =>
        StartProgram(AppContext.BaseDirectory, "FastPort.Client.dll", arguments);

    /// <summary>Another program that says as this server does where it listens.</summary>
    public static ServerProcess StartProgram(
        string directory, string program, string[] arguments, params (string Key, string Value)[] environment) =>
        new(new TemporaryDirectory(), Path.Combine(directory, program), arguments, environment);

    /// <summary>The same by another program that becomes it.</summary>
    public static ServerProcess StartProgram(
        IReadOnlyList<string> launcher,
        string directory,
        string program,
        string[] arguments,
        params (string Key, string Value)[] environment) =>
        new(new TemporaryDirectory(), Path.Combine(directory, program), arguments, environment, launcher);

    /// <summary>A copy of the program with another appsettings.json; null for none.</summary>
    public static ServerProcess StartWithSettings(string? json, string[] arguments, params (string Key, string Value)[] environment)
    {
        var directory = new TemporaryDirectory();
        string program = Path.Combine(directory.Path, "program");
        Directory.CreateDirectory(program);
        foreach (string file in Directory.EnumerateFiles(AppContext.BaseDirectory))
        {
            if (!file.EndsWith("appsettings.json", StringComparison.Ordinal))
            {
                File.Copy(file, Path.Combine(program, Path.GetFileName(file)));
            }
        }

        if (json is not null)
        {
            File.WriteAllText(Path.Combine(program, "appsettings.json"), json);
        }

        return new ServerProcess(directory, Path.Combine(program, "FastPort.Server.dll"), arguments, environment);
    }

    public int CountLoops() => LoopThreads.Count(_process.Id);

    /// <summary>The first endpoint it says it listens on.</summary>
    public async Task<string> ListeningAsync()
    {
        Task first = await Task.WhenAny(_listening.Task, _reading).WaitAsync(Limit);
        return first == _listening.Task
            ? await _listening.Task
            : throw new InvalidOperationException($"The server ended:\n{Output}\n{Errors}");
    }

    /// <summary>Completes when lines of its standard output have had this part so many times.</summary>
    public async Task PrintedAsync(string part, int times)
    {
        var printed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_output)
        {
            _awaited.Add((part, times, printed));
            TellWhoWaits();
        }

        Task first = await Task.WhenAny(printed.Task, _reading).WaitAsync(Limit);
        Assert.True(
            first == printed.Task || printed.Task.IsCompleted, $"The server ended without '{part}' {times} times:\n{Output}\n{Errors}");
    }

    /// <summary>
    /// Sends a signal. Returns from <see cref="SigStop"/> when all threads stand still: until one takes it the others run on.
    /// </summary>
    public void Signal(int signal)
    {
        if (Kill(_process.Id, signal) != 0)
        {
            throw new InvalidOperationException($"Process {_process.Id} cannot be signalled.");
        }

        if (signal == SigStop)
        {
            Assert.True(SpinWait.SpinUntil(IsStopped, Limit), $"Process {_process.Id} does not stop.");
        }
    }

    private bool IsStopped()
    {
        try
        {
            return Directory.GetDirectories($"/proc/{_process.Id}/task").All(
                static thread => File.ReadAllText($"{thread}/stat") is var stat && stat[stat.LastIndexOf(')') + 2] == 'T');
        }
        catch (IOException)
        {
            // A thread has just ended.
            return false;
        }
    }

    /// <summary>Its exit code, after all it wrote was read.</summary>
    /// <summary>Writes a line to the standard input and ends it.</summary>
    public async Task TypeAsync(string line)
    {
        await _process.StandardInput.WriteLineAsync(line);
        _process.StandardInput.Close();
    }

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
            await _process.WaitForExitAsync().WaitAsync(Limit);
        }

        await _reading.WaitAsync(Limit);
        _process.Dispose();
        _directory.Dispose();
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Kill(int process, int signal);

    private static string Snapshot(StringBuilder text)
    {
        lock (text)
        {
            return text.ToString();
        }
    }

    private void TellWhoWaits()
    {
        string text = _output.ToString();
        foreach ((_, _, TaskCompletionSource printed) in _awaited.Where(a => text.Split(a.Part).Length > a.Times))
        {
            printed.TrySetResult();
        }
    }

    private async Task ReadAsync(StreamReader reader, StringBuilder text)
    {
        const string Mark = "listening on ";
        while (await reader.ReadLineAsync() is { } line)
        {
            lock (text)
            {
                text.AppendLine(line);
                if (_awaited.Count != 0 && text == _output)
                {
                    TellWhoWaits();
                }
            }

            if (line.StartsWith(Mark, StringComparison.Ordinal))
            {
                _listening.TrySetResult(line[Mark.Length..]);
            }
        }
    }
}
