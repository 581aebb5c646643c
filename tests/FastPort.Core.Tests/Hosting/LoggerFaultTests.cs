using FastPort.Connections;
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

    [Fact]
    public async Task Nor_does_a_loop_end_on_which_a_protocol_of_ones_own_throws()
    {
        var options = new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"], Loops = 1, ShutdownTimeout = TimeSpan.Zero };
        await using var server = new ConnectionServer(options, static _ => new ThrowingProtocol(), loggerFactory: new ThrowingLog());
        await server.StartAsync();
        for (int i = 0; i < 3; i++)
        {
            using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoints[0]);
            await peer.TrySendAsync([(byte)i]);
            await peer.ExpectGoneAsync();
        }
    }

    [Fact]
    public void Nor_does_the_logger_of_a_connection_that_is_made_without_a_server_throw()
    {
        using var clock = new ConnectionClock();
        var settings = new ConnectionSettings { Clock = clock, Logger = new ThrowingLog() };

        settings.Logger.Log(LogLevel.Error, "line");
        Assert.Same(settings.Logger, (settings with { MaxSendBytes = 4096 }).Logger);
    }

    // Throws as the byte says that it is sent: from the burst, from a posted call, and from its end.
    private sealed class ThrowingProtocol : IConnectionProtocol
    {
        private Connection _connection = null!;

        public void OnOpened(Connection connection) => _connection = connection;

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            byte what = input.FirstReadableSpan[0];
            input.Consume(input.Length);
            switch (what)
            {
                case 0:
                    throw new InvalidOperationException("burst");
                case 1:
                    _connection.Post(static _ => throw new InvalidOperationException("posted"), null);
                    break;
                default:
                    _connection.Close(CloseReason.LocalClosed);
                    break;
            }

            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => _connection.Close(CloseReason.PeerClosed);

        public void OnClosed(CloseReason reason) => throw new InvalidOperationException("end");
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
