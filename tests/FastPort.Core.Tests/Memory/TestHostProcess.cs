using System.Diagnostics;
using System.Globalization;
using FastPort.Core.Tests.Clients;

namespace FastPort.Core.Tests.Memory;

/// <summary>FastPort.TestHost as a child process: a quiet process to measure. Ended when disposed.</summary>
internal sealed class TestHostProcess : IAsyncDisposable
{
    private readonly Process _process;

    private TestHostProcess(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false };
        start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, "FastPort.TestHost.dll"));
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        // Optimised from the first call on: the change to optimised code while a test runs would be measured as allocations.
        start.Environment["DOTNET_TieredCompilation"] = "0";
        _process = Process.Start(start)!;
    }

    public int Port { get; private set; }

    public static async Task<TestHostProcess> ServeAsync()
    {
        var host = new TestHostProcess("serve");
        host.Port = (int)(await host.ReadAsync())["port"];
        return host;
    }

    public static TestHostProcess StartStop(int rounds) => new("start-stop", rounds.ToString(CultureInfo.InvariantCulture));

    /// <summary>What the process holds now.</summary>
    public Task<Dictionary<string, long>> MeasureAsync() => AskAsync("measure");

    /// <summary>Begins to count rented arrays, which itself costs allocations.</summary>
    public Task CountRentsAsync() => AskAsync("count-rents");

    /// <summary>The next line of figures.</summary>
    public async Task<Dictionary<string, long>> ReadAsync()
    {
        string line = await _process.StandardOutput.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(120))
            ?? throw new EndOfStreamException("The test host ended early.");
        return line.Split(' ').Select(static pair => pair.Split('=')).ToDictionary(
            static pair => pair[0], static pair => long.Parse(pair[1], CultureInfo.InvariantCulture));
    }

    public async ValueTask DisposeAsync()
    {
        _process.StandardInput.Close();
        try
        {
            await _process.WaitForExitAsync().Soon();
        }
        finally
        {
            if (!_process.HasExited)
            {
                _process.Kill();
            }

            _process.Dispose();
        }
    }

    private async Task<Dictionary<string, long>> AskAsync(string question)
    {
        await _process.StandardInput.WriteLineAsync(question);
        await _process.StandardInput.FlushAsync();
        return await ReadAsync();
    }
}
