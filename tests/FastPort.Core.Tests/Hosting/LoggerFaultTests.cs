using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>A logger that throws costs its line, and neither a session, nor its queue, nor the process.</summary>
public sealed class LoggerFaultTests
{
    [Fact]
    public async Task Nothing_is_lost_but_the_line()
    {
        var handlers = new MessageHandlers()
            .MapInline(0x1000, static (ref InlineRequest _) => throw new InvalidOperationException("inline"))
            .MapQueued(0x1001, static _ => throw new InvalidOperationException("queued"));
        var options = new FastPortServerOptions
        {
            Endpoints = { "tcp://127.0.0.1:0" },
            ShutdownTimeout = TimeSpan.Zero,
            ShutdownGrace = TimeSpan.Zero,
        };
        await using var server = new FastPortServer(options, handlers, loggerFactory: new ThrowingLog());
        await server.StartAsync();
        using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoints[0]);
        await peer.SayHelloAsync("tank");
        for (uint i = 1; i <= 5; i++)
        {
            Assert.Equal(9u, (await peer.CallAsync(Wire.Request(0x1000, i))).ErrorCode);
            Assert.Equal(9u, (await peer.CallAsync(Wire.Request(0x1001, i))).ErrorCode);
        }

        // Closed on a fault, which is logged on the loop; the loop goes on.
        await peer.SendAsync(Wire.Frame(0x1000, 0x40, 1, []));
        Assert.Equal(1u, (await peer.ReadFrameAsync()).ErrorCode);
        await peer.ExpectEndAsync();
        using RawPeer other = await RawPeer.ConnectAsync(server.Endpoints[0]);
        await other.SayHelloAsync("tank-2");
        await server.StopAsync().InTimeAsync();
    }

    private sealed class ThrowingLog : ILoggerFactory, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public bool IsEnabled(LogLevel logLevel) => true;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            throw new IOException("No space left on device.");

        public void Dispose()
        {
        }
    }
}
