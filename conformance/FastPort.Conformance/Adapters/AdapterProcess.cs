using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Threading.Channels;

namespace FastPort.Conformance.Adapters;

/// <summary>An adapter in a process of its own: a line of JSON for each command on its input, and for each event on its output.</summary>
internal sealed class AdapterProcess : IAdapter
{
    private static readonly TimeSpan TimeToEnd = TimeSpan.FromSeconds(5);

    private readonly Channel<JsonObject> _events = Channel.CreateUnbounded<JsonObject>();
    private readonly Process _process;
    private readonly Task _reading;

    private AdapterProcess(Process process)
    {
        _process = process;
        _reading = ReadAsync();
    }

    public ChannelReader<JsonObject> Events => _events.Reader;

    /// <summary>Starts it; its standard error is this program's.</summary>
    /// <param name="command">A program and its arguments.</param>
    public static AdapterProcess Start(IReadOnlyList<string> command)
    {
        var start = new ProcessStartInfo(command[0], command.Skip(1))
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        return new AdapterProcess(Process.Start(start)!);
    }

    public void Send(JsonObject command)
    {
        try
        {
            _process.StandardInput.WriteLine(command.ToJsonString());
            _process.StandardInput.Flush();
        }
        catch (IOException)
        {
            // It has ended; its events are completed.
        }
    }

    /// <summary>Ends its input, at which it ends; otherwise it is killed.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            _process.StandardInput.Close();
            await _process.WaitForExitAsync().WaitAsync(TimeToEnd).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            _process.Kill(entireProcessTree: true);
        }

        await _reading.ConfigureAwait(false);
        _process.Dispose();
    }

    private async Task ReadAsync()
    {
        try
        {
            while (await _process.StandardOutput.ReadLineAsync().ConfigureAwait(false) is { } line)
            {
                _events.Writer.TryWrite(JsonNode.Parse(line)!.AsObject());
            }

            _events.Writer.TryComplete(new CaseFailureException("The adapter has ended."));
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            _events.Writer.TryComplete(new CaseFailureException($"The adapter wrote a line that is not a JSON object: {e.Message}"));
        }
    }
}
