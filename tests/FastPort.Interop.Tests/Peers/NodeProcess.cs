using System.Diagnostics;
using System.Text.Json;

namespace FastPort.Interop.Tests.Peers;

/// <summary>One of the peers' scripts as a child process. It is killed by its id if it is still there at the end.</summary>
internal sealed class NodeProcess : IDisposable
{
    /// <summary>Only a broken test reaches it.</summary>
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web) { RespectRequiredConstructorParameters = true };

    private readonly Process _process;
    private readonly string _name;
    private readonly Task<string> _errors;

    private NodeProcess(Process process, string name)
    {
        _process = process;
        _name = name;
        _errors = process.StandardError.ReadToEndAsync();
    }

    public static NodeProcess Start(string script, params string[] arguments)
    {
        if (NodeInstallation.Problem is { } problem)
        {
            throw new InvalidOperationException(problem);
        }

        var start = new ProcessStartInfo(NodeInstallation.Program!, [Path.Combine(NodeInstallation.Directory, script), .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = NodeInstallation.Directory,
        };
        return new NodeProcess(Process.Start(start)!, $"{script} {string.Join(' ', arguments)}");
    }

    public static string ToJson(object value) => JsonSerializer.Serialize(value, Json);

    /// <summary>Reads one line of its output.</summary>
    public async Task<T> ReadLineAsync<T>()
    {
        using var limit = new CancellationTokenSource(Limit);
        string? line = await _process.StandardOutput.ReadLineAsync(limit.Token);
        return line is null ? throw await FailureAsync("ended without a line of output") : Parse<T>(line);
    }

    /// <summary>Sends it an empty line: it may go on.</summary>
    public async Task SendLineAsync()
    {
        await _process.StandardInput.WriteLineAsync();
        await _process.StandardInput.FlushAsync();
    }

    /// <summary>Ends its input, waits for its end and reads the rest of its output, which is the result.</summary>
    public async Task<T> FinishAsync<T>()
    {
        _process.StandardInput.Close();
        using var limit = new CancellationTokenSource(Limit);
        string output;
        try
        {
            output = await _process.StandardOutput.ReadToEndAsync(limit.Token);
            await _process.WaitForExitAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
            _process.Kill();
            throw await FailureAsync($"did not end within {Limit.TotalSeconds} s");
        }

        return _process.ExitCode == 0 ? Parse<T>(output) : throw await FailureAsync($"ended with exit code {_process.ExitCode}");
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        _process.Dispose();
    }

    private static T Parse<T>(string json) => JsonSerializer.Deserialize<T>(json, Json)!;

    private async Task<InvalidOperationException> FailureAsync(string what) => new($"node {_name} {what}.\n{await _errors}");
}
