using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Threading.Channels;

namespace FastPort.Conformance.Adapters;

/// <summary>An adapter in a process of its own: a line of JSON for each command on its input, and for each event on its output.</summary>
internal sealed class AdapterProcess : IAdapter
{
    // With a key that comes twice, the object would fail when it is used.
    private static readonly JsonDocumentOptions Strict = new() { AllowDuplicateProperties = false };

    private readonly Channel<string> _commands = Channel.CreateUnbounded<string>();
    private readonly Channel<JsonObject> _events = Channel.CreateUnbounded<JsonObject>();
    private readonly Process _process;
    private readonly Task _writing;
    private readonly Task _reading;
    private readonly TimeSpan _timeToEnd;

    private AdapterProcess(Process process, TimeSpan timeToEnd)
    {
        _process = process;
        _timeToEnd = timeToEnd;
        _writing = WriteAsync();
        _reading = ReadAsync();
    }

    public ChannelReader<JsonObject> Events => _events.Reader;

    /// <summary>Starts it; its standard error is this program's.</summary>
    /// <param name="command">A program and its arguments.</param>
    /// <param name="timeToEnd">How long it may run on after its input has ended; then it is killed. Defaults to 5 s.</param>
    public static AdapterProcess Start(IReadOnlyList<string> command, TimeSpan? timeToEnd = null)
    {
        var start = new ProcessStartInfo(command[0], command.Skip(1))
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        return new AdapterProcess(Process.Start(start)!, timeToEnd ?? TimeSpan.FromSeconds(5));
    }

    // An adapter that reads nothing holds up only its own input.
    public void Send(JsonObject command) => _commands.Writer.TryWrite(command.ToJsonString());

    /// <summary>Ends its input, at which it ends; otherwise it is killed.</summary>
    public async ValueTask DisposeAsync()
    {
        _commands.Writer.TryComplete();
        try
        {
            await _process.WaitForExitAsync().WaitAsync(_timeToEnd).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            _process.Kill(entireProcessTree: true);
        }

        try
        {
            // A process that the adapter has left behind may hold its output open.
            await Task.WhenAll(_writing, _reading).WaitAsync(_timeToEnd).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            _events.Writer.TryComplete();
        }

        _process.Dispose();
    }

    private async Task WriteAsync()
    {
        try
        {
            await foreach (string command in _commands.Reader.ReadAllAsync().ConfigureAwait(false))
            {
                await _process.StandardInput.WriteLineAsync(command).ConfigureAwait(false);
                await _process.StandardInput.FlushAsync().ConfigureAwait(false);
            }

            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // It has ended; its events are completed.
        }
    }

    private async Task ReadAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync().ConfigureAwait(false) is { } line)
        {
            if (Parse(line) is not { } read)
            {
                string shown = line.Length <= 300 ? line : $"{line[..300]}...";
                _events.Writer.TryComplete(new CaseFailureException($"The adapter wrote a line that is not a JSON object: '{shown}'."));
                return;
            }

            _events.Writer.TryWrite(read);
        }

        await _process.WaitForExitAsync().ConfigureAwait(false);
        _events.Writer.TryComplete(new CaseFailureException($"The adapter has ended, with exit code {_process.ExitCode}."));
    }

    private static JsonObject? Parse(string line)
    {
        try
        {
            return JsonNode.Parse(line, null, Strict) as JsonObject;
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
