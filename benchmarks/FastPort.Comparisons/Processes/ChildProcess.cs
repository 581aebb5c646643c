using System.Collections.ObjectModel;
using System.ComponentModel;
using System.Diagnostics;

namespace FastPort.Comparisons.Processes;

/// <summary>A started process with its output; disposing it ends it.</summary>
internal sealed class ChildProcess : IDisposable
{
    private const int KeptErrorLines = 20;

    private readonly Process _process;
    private readonly Action<ChildProcess> _forget;
    private readonly Action<string>? _onOutput;
    private readonly Lock _gate = new();
    private readonly List<string> _output = []; // guarded by _gate; only where nobody listens to the lines
    private readonly Queue<string> _errors = new(); // guarded by _gate
    private int _disposed;

    public ChildProcess(
        IReadOnlyList<string> command,
        string workingDirectory,
        IReadOnlyDictionary<string, string>? environment,
        Action<string>? onOutput,
        Action<ChildProcess> forget)
    {
        _forget = forget;
        _onOutput = onOutput;
        var start = new ProcessStartInfo(command[0], command.Skip(1))
        {
            WorkingDirectory = workingDirectory,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        foreach ((string key, string value) in environment ?? ReadOnlyDictionary<string, string>.Empty)
        {
            start.Environment[key] = value;
        }

        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, line) => TakeOutput(line.Data);
        _process.ErrorDataReceived += (_, line) => TakeError(line.Data);
        try
        {
            _process.Start();
        }
        catch (Win32Exception exception)
        {
            _process.Dispose();
            throw new ComparisonException($"{command[0]} cannot be started: {exception.Message}", exception);
        }

        Id = _process.Id;
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    /// <summary>The process id.</summary>
    public int Id { get; }

    /// <summary>Exit code; only once <see cref="WaitForExitAsync"/> has returned.</summary>
    public int ExitCode => _process.ExitCode;

    /// <summary>Waits for the process's end and the end of its output.</summary>
    public Task WaitForExitAsync(CancellationToken cancellation) => _process.WaitForExitAsync(cancellation);

    /// <summary>Writes a line to the process's standard input.</summary>
    /// <exception cref="ComparisonException">The process has ended.</exception>
    public async Task WriteLineAsync(string line)
    {
        try
        {
            await _process.StandardInput.WriteLineAsync(line);
            await _process.StandardInput.FlushAsync();
        }
        catch (IOException exception)
        {
            throw new ComparisonException(
                $"'{line}' could not be said to {_process.StartInfo.FileName}: it has ended; it said: {Errors()}", exception);
        }
    }

    /// <summary>Ends the process's standard input, by which it is told to end.</summary>
    public void CloseInput() => _process.StandardInput.Close();

    /// <summary>The lines written so far.</summary>
    public string Output()
    {
        lock (_gate)
        {
            return string.Join('\n', _output);
        }
    }

    /// <summary>The last lines written to standard error.</summary>
    public string Errors()
    {
        lock (_gate)
        {
            return string.Join('\n', _errors);
        }
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
        {
            return;
        }

        try
        {
            // Nothing is lost by a hard end: its figures have been read, and a benchmark wants the core back at once.
            _process.Kill();
            _process.WaitForExit();
        }
        catch (InvalidOperationException)
        {
            // It has ended by itself.
        }

        _forget(this);
        _process.Dispose();
    }

    private void TakeOutput(string? line)
    {
        if (line is null)
        {
            return;
        }

        if (_onOutput is not null)
        {
            _onOutput(line);
            return;
        }

        lock (_gate)
        {
            _output.Add(line);
        }
    }

    private void TakeError(string? line)
    {
        if (string.IsNullOrEmpty(line))
        {
            return;
        }

        lock (_gate)
        {
            _errors.Enqueue(line);
            if (_errors.Count > KeptErrorLines)
            {
                _errors.Dequeue();
            }
        }
    }
}
