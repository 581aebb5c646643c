using System.Diagnostics;
using System.Text;
using System.Threading.Channels;
using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>
/// <c>openssl</c> as a child process, with an input that stays open until it is ended. What it writes is read at once, errors too. It is
/// killed by its id if it is still there at the end.
/// </summary>
internal sealed class OpenSslProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly string _name;
    private readonly StringBuilder _said = new();
    private readonly Channel<string> _unread = Channel.CreateUnbounded<string>();
    private readonly Task _reading;

    private OpenSslProcess(Process process, string name)
    {
        _process = process;
        _name = name;
        _reading = ReadAllAsync();
    }

    public static OpenSslProcess Start(params IEnumerable<string> arguments)
    {
        Assert.True(OpenSslInstallation.Problem is null, OpenSslInstallation.Problem);

        // Into a pipe it would write what it says only when it ends.
        var start = new ProcessStartInfo("stdbuf", ["-o0", "openssl", .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,

            // A server's output holds what its clients have sent.
            StandardOutputEncoding = Encoding.Latin1,
            StandardErrorEncoding = Encoding.Latin1,
        };
        return new OpenSslProcess(Process.Start(start)!, $"openssl {string.Join(' ', arguments)}");
    }

    public async Task SendLineAsync(string line)
    {
        await _process.StandardInput.WriteLineAsync(line);
        await _process.StandardInput.FlushAsync();
    }

    /// <summary>Reads until it has said this, and returns all that it has said.</summary>
    public async Task<string> SaysAsync(string text)
    {
        CancellationToken token = Patience.Token;
        while (!_said.ToString().Contains(text, StringComparison.Ordinal))
        {
            Assert.True(await ReadMoreAsync(token), Failure($"ended or waited without saying '{text}'"));
        }

        return _said.ToString();
    }

    /// <summary>Reads until it says this again, not looking at what was read before.</summary>
    public Task<string> SaysOnceMoreAsync(string text)
    {
        _said.Clear();
        return SaysAsync(text);
    }

    /// <summary>Reads until it has said a line with this, and returns what follows in the line.</summary>
    public async Task<string> RestOfLineAsync(string text)
    {
        string[] rest;
        CancellationToken token = Patience.Token;
        while ((rest = (await SaysAsync(text)).Split(text, 2)[1].Split('\n', 2)).Length == 1)
        {
            Assert.True(await ReadMoreAsync(token), Failure($"ended or waited within the line '{text}'"));
        }

        return rest[0];
    }

    /// <summary>Ends its input, upon which a client says goodbye and ends; returns all that it has said.</summary>
    public Task<string> FinishAsync()
    {
        _process.StandardInput.Close();
        return EndsAsync(exitCode: 0);
    }

    /// <summary>Waits for its end, which its peer or an error brings about; returns all that it has said.</summary>
    /// <param name="exitCode">The exit code it must have; 1 for an error.</param>
    public async Task<string> EndsAsync(int exitCode = 1)
    {
        CancellationToken token = Patience.Token;
        while (await ReadMoreAsync(token))
        {
            // The next piece.
        }

        Assert.False(token.IsCancellationRequested, Failure("did not end"));
        await _process.WaitForExitAsync(token);
        Assert.True(_process.ExitCode == exitCode, Failure($"ended with exit code {_process.ExitCode}, not {exitCode}"));
        return _said.ToString();
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        await _reading.InTimeAsync();
        _process.Dispose();
    }

    private string Failure(string what) => $"{_name} {what}. It said:\n{_said}";

    // False at the end of its output, or of the patience.
    private async Task<bool> ReadMoreAsync(CancellationToken token)
    {
        try
        {
            _said.Append(await _unread.Reader.ReadAsync(token));
            return true;
        }
        catch (Exception e) when (e is ChannelClosedException or OperationCanceledException)
        {
            return false;
        }
    }

    private async Task ReadAllAsync()
    {
        await Task.WhenAll(ReadAsync(_process.StandardOutput), ReadAsync(_process.StandardError));
        _unread.Writer.Complete();
    }

    private async Task ReadAsync(StreamReader reader)
    {
        char[] buffer = new char[4096];
        while (await reader.ReadAsync(buffer) is > 0 and int count)
        {
            _unread.Writer.TryWrite(new string(buffer, 0, count));
        }
    }
}
