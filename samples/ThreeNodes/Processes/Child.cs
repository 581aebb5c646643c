using System.Diagnostics;
using System.Globalization;

namespace ThreeNodes.Processes;

/// <summary>A program that runs as a child of this one and ends with it.</summary>
internal sealed class Child : IAsyncDisposable
{
    private const int LinesKept = 20;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly string _name;
    private readonly Process _process;
    private readonly Task _reading;

    // Guards the two below.
    private readonly Lock _gate = new();
    private readonly Queue<string> _last = new();
    private (string Text, TaskCompletionSource Said)? _awaited;

    private Child(string name, Process process, string? awaited)
    {
        _name = name;
        _process = process;
        _awaited = awaited is null ? null : (awaited, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));

        // Read all the time: a program whose output nobody reads stops at its next line.
        _reading = Task.WhenAll(ReadAsync(process.StandardOutput), ReadAsync(process.StandardError));
    }

    /// <summary>Starts a program and waits until it writes a line with a text.</summary>
    /// <param name="name">What messages call it.</param>
    /// <param name="start">Program, arguments, environment.</param>
    /// <param name="ready">The text; null not to wait.</param>
    /// <param name="cancellationToken">Ends the wait, and the program.</param>
    public static async Task<Child> StartAsync(
        string name, ProcessStartInfo start, string? ready, CancellationToken cancellationToken = default)
    {
        start.RedirectStandardOutput = start.RedirectStandardError = true;
        var child = new Child(name, Process.Start(start)!, ready);
        if (child._awaited is not { Said: var said })
        {
            return child;
        }

        Task ended = child._process.WaitForExitAsync(CancellationToken.None);
        try
        {
            await Task.WhenAny(said.Task, ended).WaitAsync(Patience, cancellationToken);
            if (!said.Task.IsCompleted)
            {
                await child.CheckAsync();
            }

            return child;
        }
        catch (Exception e)
        {
            await child.DisposeAsync();
            throw e is TimeoutException ? child.Failed($"does not say '{ready}'") : e;
        }
    }

    /// <summary>The program's path; null where it is not installed.</summary>
    public static string? Find(string program) =>
        (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator)
        // Debian keeps servers where only root's path leads.
        .Append("/usr/sbin")
        .Select(folder => Path.Combine(folder, program)).FirstOrDefault(File.Exists);

    /// <summary>Throws if the program has ended by itself.</summary>
    /// <exception cref="ChildFailedException">With its last lines.</exception>
    public async Task CheckAsync()
    {
        if (_process.HasExited)
        {
            await _reading;
            throw Failed($"has ended with exit code {_process.ExitCode}");
        }
    }

    /// <summary>Asks the program to end, as a service manager does, and returns its exit code.</summary>
    public async Task<int> StopAsync(CancellationToken cancellationToken)
    {
        using (Process kill = Process.Start("kill", ["-TERM", _process.Id.ToString(CultureInfo.InvariantCulture)]))
        {
            await kill.WaitForExitAsync(cancellationToken);
        }

        try
        {
            await _process.WaitForExitAsync(cancellationToken).WaitAsync(Patience, cancellationToken);
        }
        catch (TimeoutException)
        {
            throw Failed("does not end");
        }

        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        await _process.WaitForExitAsync();
        await _reading;
        _process.Dispose();
    }

    private async Task ReadAsync(StreamReader output)
    {
        while (await output.ReadLineAsync() is { } line)
        {
            lock (_gate)
            {
                _last.Enqueue(line);
                if (_last.Count > LinesKept)
                {
                    _last.Dequeue();
                }

                if (_awaited is { } awaited && line.Contains(awaited.Text, StringComparison.Ordinal))
                {
                    awaited.Said.TrySetResult();
                }
            }
        }
    }

    private ChildFailedException Failed(string what)
    {
        lock (_gate)
        {
            return new ChildFailedException($"{_name} {what}; its last lines:\n{string.Join('\n', _last)}");
        }
    }
}
