using System.Text;
using FastPort.Hosting;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>A console that nobody reads, or a disk that does not answer, costs the last report and never the end of the host.</summary>
public sealed class StalledOutputTests : IDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly StalledConsole _console = new();
    private readonly RecordingLog _log = new();

    public void Dispose() => _console.Dispose();

    [Fact]
    public async Task The_host_stops_when_its_token_says_so()
    {
        FastPortHostedService service = await StartAsync();
        using var token = new CancellationTokenSource();
        Task stop = StopAsync(service, token.Token);
        await _console.IsStalled.InTimeAsync();
        Assert.False(stop.IsCompleted);

        await token.CancelAsync();

        await stop.InTimeAsync();
        await service.DisposeAsync().InTimeAsync();
        await Patience.UntilAsync(() => _log.WithId(5005).Count == 1, "it was logged");
    }

    [Fact]
    public async Task A_token_that_was_canceled_during_the_drain_delay_does_not_cost_the_report()
    {
        FastPortHostedService service = await StartAsync();
        Task stop = StopAsync(service, new CancellationToken(canceled: true));
        await _console.IsStalled.InTimeAsync();
        Assert.False(stop.IsCompleted);

        _console.Release();

        await stop.InTimeAsync();
        await service.DisposeAsync().InTimeAsync();
        Assert.Empty(_log.WithId(5005));
    }

    [Fact]
    public async Task The_host_stops_after_the_shutdown_timeout()
    {
        FastPortHostedService service = await StartAsync();
        Task stop = StopAsync(service, CancellationToken.None);
        await _console.IsStalled.InTimeAsync();
        _time.Advance(TimeSpan.FromSeconds(2.9));
        Assert.False(stop.IsCompleted);

        _time.Advance(TimeSpan.FromSeconds(0.2));

        await stop.InTimeAsync();
        await service.DisposeAsync().InTimeAsync();
    }

    [Fact]
    public async Task Files_are_written_while_the_console_stands_still()
    {
        using var directory = new TemporaryDirectory();
        var stats = new LatencyStats(LatencyRole.Server, time: _time);
        var options = new LatencyStatsOptions { OutputDirectory = directory.Path, FileWriteIntervalSeconds = 1 };
        var writer = new LatencyStatsWriter(stats, options, _log.CreateLogger<LatencyStatsWriter>(), _console);
        writer.Start();
        _time.Advance(TimeSpan.FromSeconds(1));
        await _console.IsStalled.InTimeAsync();
        string csv = Assert.Single(Directory.GetFiles(directory.Path, "*.csv"));
        long length = new FileInfo(csv).Length;
        for (int interval = 2; interval < 5; interval++)
        {
            int skipped = interval - 1;
            _time.Advance(TimeSpan.FromSeconds(1));
            await Patience.UntilAsync(
                () => writer.FailedWrites == skipped && new FileInfo(csv).Length > length, "the interval is in the file, and no table is");
            length = new FileInfo(csv).Length;
        }

        Task finish = writer.FinishAsync();
        Assert.False(finish.IsCompleted);
        _console.Release();
        await finish.InTimeAsync();
        Assert.Equal(2, _console.Writes);
    }

    [Fact]
    public async Task A_server_stops_although_its_logger_blocks()
    {
        using var log = new BlockedLog();
        var server = new FastPortServer(Options(), new MessageHandlers(), new FastPortServerComponents { Time = _time }, log);
        await server.StartAsync();
        log.Block();

        Task stop = server.StopAsync();
        await log.IsBlocked.InTimeAsync();
        _time.Advance(TimeSpan.FromSeconds(13.1));

        await stop.InTimeAsync();
        await server.DisposeAsync().InTimeAsync();
    }

    private static FastPortServerOptions Options() =>
        new() { Endpoints = { "tcp://127.0.0.1:0" }, ShutdownTimeout = TimeSpan.FromSeconds(3), ShutdownGrace = TimeSpan.Zero };

    private async Task<FastPortHostedService> StartAsync()
    {
        var server = new FastPortServer(Options(), new MessageHandlers(), loggerFactory: _log);
        var stats = new LatencyStats(LatencyRole.Server, time: _time);
        var options = new LatencyStatsOptions { EnableConsoleOutput = true, EnableFileOutput = false };
        var service = new FastPortHostedService(server, stats, options, _log, meters: null, console: _console);
        await service.StartedAsync(CancellationToken.None);
        return service;
    }

    // As the host does.
    private static async Task StopAsync(FastPortHostedService service, CancellationToken token)
    {
        await service.StoppingAsync(token);
        await service.StopAsync(token);
    }

    private sealed class StalledConsole : TextWriter
    {
        private readonly TaskCompletionSource _stalled = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly ManualResetEventSlim _released = new();

        public override Encoding Encoding => Encoding.UTF8;

        public Task IsStalled => _stalled.Task;

        public int Writes { get; private set; }

        public void Release() => _released.Set();

        // As the console's own writer: on the caller's thread.
        public override Task WriteAsync(string? value)
        {
            Writes++;
            _stalled.TrySetResult();
            _released.Wait(Patience.Limit);
            return Task.CompletedTask;
        }

        protected override void Dispose(bool disposing)
        {
            Release();
            base.Dispose(disposing);
        }
    }

    private sealed class BlockedLog : ILoggerFactory, ILogger
    {
        private readonly TaskCompletionSource _blocked = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly ManualResetEventSlim _open = new(initialState: true);

        public Task IsBlocked => _blocked.Task;

        public void Block() => _open.Reset();

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public bool IsEnabled(LogLevel logLevel) => true;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!_open.IsSet)
            {
                _blocked.TrySetResult();
                _open.Wait(Patience.Limit);
            }
        }

        public void Dispose() => _open.Set();
    }
}
