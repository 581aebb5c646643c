using System.Diagnostics;
using System.Globalization;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>FastPort.TestHost as a child process: a process of its own to measure or to deprive. Ended when disposed.</summary>
internal sealed class TestHostProcess : IAsyncDisposable
{
    private static readonly string Program = Path.Combine(AppContext.BaseDirectory, "FastPort.TestHost.dll");
    private readonly Process _process;
    private readonly List<HostLogLine> _log = [];

    private TestHostProcess(string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false };
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        // Optimised from the first call on: the change to optimised code while a test runs would be measured as allocations.
        start.Environment["DOTNET_TieredCompilation"] = "0";
        _process = Process.Start(start)!;
    }

    /// <summary>The program, or the launcher that has become it.</summary>
    public int Id => _process.Id;

    public int Port { get; private set; }

    /// <summary>The port of the process's second server; 0 if it has one only.</summary>
    public int SecondPort { get; private set; }

    /// <summary>The threads of a pool that has few; 0 where it has as many as it needs.</summary>
    public int PoolThreads { get; private set; }

    /// <param name="mode">
    /// With <c>serve-ws</c> a server of WebSockets, with <c>inline</c> one whose sockets complete on one polling thread.
    /// </param>
    public static async Task<TestHostProcess> ServeAsync(string mode = "serve")
    {
        var host = new TestHostProcess("dotnet", Program, mode);
        host.Port = (int)(await host.ReadAsync())["port"];
        return host;
    }

    /// <summary>A server that sends heartbeats.</summary>
    public static async Task<TestHostProcess> ServeWithHeartbeatsAsync(TransportKind transport, TimeSpan interval)
    {
        var host = new TestHostProcess(
            "dotnet", Program, "serve", transport.ToString(), interval.TotalMilliseconds.ToString(CultureInfo.InvariantCulture));
        host.Port = (int)(await host.ReadAsync())["port"];
        return host;
    }

    /// <summary>A server that may open only so many descriptors and prints its log.</summary>
    /// <param name="transport">Its transport.</param>
    /// <param name="descriptors">The descriptors of the process.</param>
    /// <param name="loops">Its event loops.</param>
    /// <param name="hasSecond">Whether a second one, which requires Hello, runs in the same process.</param>
    public static async Task<TestHostProcess> ServeWithDescriptorsAsync(
        TransportKind transport, int descriptors, int loops = 0, bool hasSecond = false)
    {
        string second = hasSecond ? "second" : string.Empty;
        var host = new TestHostProcess(
            "bash", "-c", $"ulimit -n {descriptors}; exec dotnet '{Program}' scarce {transport} {loops} {second}");
        Dictionary<string, long> figures = await host.ReadAsync();
        (host.Port, host.SecondPort) = ((int)figures["port"], (int)figures["second-port"]);
        return host;
    }

    /// <summary>A server whose pool has few threads; queued handlers can block all of them.</summary>
    public static async Task<TestHostProcess> ServeBlockedAsync(TransportKind transport, params string[] way)
    {
        var host = new TestHostProcess("dotnet", [Program, "blocked", transport.ToString(), .. way]);
        Dictionary<string, long> figures = await host.ReadAsync();
        (host.Port, host.PoolThreads) = ((int)figures["port"], (int)figures["threads"]);
        return host;
    }

    /// <summary>Starts of a server in a process whose descriptors have run out.</summary>
    /// <param name="transport">The server's transport.</param>
    /// <param name="loops">Its event loops.</param>
    /// <param name="path">Of a Unix socket, whose stale file is there each time; empty for a port.</param>
    public static TestHostProcess ScarceStart(TransportKind transport, int loops, string path) =>
        new("bash", "-c", $"ulimit -n 200; exec dotnet '{Program}' scarce-start {transport} {loops} {path}");

    /// <summary>A server and its clients over event loops.</summary>
    /// <param name="spinMicroseconds">How long they spin; null for adaptive.</param>
    /// <param name="launcher">A program with its arguments that starts it, as <c>taskset</c>; none for a start as it is.</param>
    public static Task<TestHostProcess> LockStepAsync(int? spinMicroseconds, params string[] launcher) => StartAsync(
        launcher,
        spinMicroseconds is { } told ? ["lock-step", told.ToString(CultureInfo.InvariantCulture)] : ["lock-step"]);

    /// <summary>How many loops of a process may spin at the same time; on the cores that it has, or believes it has.</summary>
    public static TestHostProcess Spinners(int? cores) =>
        cores is null ? new("dotnet", Program, "spinners") : new("env", $"DOTNET_PROCESSOR_COUNT={cores}", "dotnet", Program, "spinners");

    /// <summary>A server and a client, connected in a network namespace of their own.</summary>
    /// <param name="transport">The transport of both sides.</param>
    /// <param name="settings">Timeouts of both, as <c>heartbeat=300</c>; the others are off.</param>
    public static Task<TestHostProcess> ConnectInNamespaceAsync(TransportKind transport, params string[] settings) =>
        StartAsync(NetworkNamespaces.Own, ["half-open", transport.ToString(), .. settings]);

    /// <summary>The program in one of its modes, when it has printed its first figures.</summary>
    /// <param name="launcher">A program with its arguments that becomes it; none for a start as it is.</param>
    /// <param name="mode">The mode with its arguments.</param>
    public static async Task<TestHostProcess> StartAsync(IReadOnlyList<string> launcher, params string[] mode)
    {
        string[] command = [.. launcher, "dotnet", Program, .. mode];
        var host = new TestHostProcess(command[0], command[1..]);
        try
        {
            await host.ReadAsync();
            return host;
        }
        catch
        {
            await host.DisposeAsync();
            throw;
        }
    }

    public static TestHostProcess Link(string endpoint, int size) =>
        new("dotnet", Program, "link", endpoint, size.ToString(CultureInfo.InvariantCulture));

    public static TestHostProcess StartStop(int rounds) =>
        new("dotnet", Program, "start-stop", rounds.ToString(CultureInfo.InvariantCulture));

    /// <summary>Requests one after the other, by each client in turn.</summary>
    public Task<Dictionary<string, long>> ExchangeAsync() => AskAsync("exchange");

    /// <summary>The same again and again, until a loop has spun.</summary>
    public async Task<Dictionary<string, long>> ExchangeUntilSpunAsync()
    {
        CancellationToken token = Patience.Token;
        Dictionary<string, long> figures;
        do
        {
            Assert.False(token.IsCancellationRequested, "No loop has spun.");
            figures = await ExchangeAsync();
        }
        while (figures["spins"] == 0);
        return figures;
    }

    /// <summary>Sends the process a signal, such as STOP.</summary>
    public async Task SignalAsync(string name)
    {
        using Process kill = Process.Start("bash", ["-c", $"kill -{name} {Id}"]);
        await kill.WaitForExitAsync().InTimeAsync();
        Assert.Equal(0, kill.ExitCode);
    }

    /// <summary>What the process holds now.</summary>
    public Task<Dictionary<string, long>> MeasureAsync() => AskAsync("measure");

    /// <summary>What the process holds when the last connection has ended.</summary>
    public Task<Dictionary<string, long>> MeasureEmptyAsync() => AskAsync("measure-empty");

    /// <summary>Begins to count rented arrays, which itself costs allocations.</summary>
    public Task CountRentsAsync() => AskAsync("count-rents");

    /// <summary>The lines of the log that were printed before what was read last.</summary>
    public IReadOnlyList<HostLogLine> Log => _log;

    /// <summary>The next line of figures.</summary>
    public async Task<Dictionary<string, long>> ReadAsync()
    {
        string line;
        do
        {
            line = await ReadLineAsync();
        }
        while (IsLog(line));
        return line.Split(' ').Select(static pair => pair.Split('=')).ToDictionary(
            static pair => pair[0], static pair => long.Parse(pair[1], CultureInfo.InvariantCulture));
    }

    /// <summary>Reads until so many lines of the log have this event id.</summary>
    public async Task<IReadOnlyList<HostLogLine>> ReadLogAsync(int eventId, int count = 1)
    {
        while (_log.Count(l => l.EventId == eventId) < count)
        {
            await ReadLineAsync();
        }

        return [.. _log.Where(l => l.EventId == eventId)];
    }

    /// <summary>Sends a line and reads the figures that answer it.</summary>
    public async Task<Dictionary<string, long>> AskAsync(string question)
    {
        await _process.StandardInput.WriteLineAsync(question);
        await _process.StandardInput.FlushAsync();
        return await ReadAsync();
    }

    public async ValueTask DisposeAsync()
    {
        _process.StandardInput.Close();
        try
        {
            await _process.WaitForExitAsync().InTimeAsync();
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

    private static bool IsLog(string line) => line.StartsWith("log ", StringComparison.Ordinal);

    private async Task<string> ReadLineAsync()
    {
        string line = await _process.StandardOutput.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(120))
            ?? throw new EndOfStreamException("The test host ended early.");
        if (IsLog(line))
        {
            string[] parts = line.Split(' ', 4);
            _log.Add(
                new HostLogLine(
                    int.Parse(parts[1], CultureInfo.InvariantCulture), long.Parse(parts[2], CultureInfo.InvariantCulture), parts[3]));
        }

        return line;
    }
}

/// <summary>A line that the test host logged.</summary>
internal sealed record HostLogLine(int EventId, long Milliseconds, string Text);
