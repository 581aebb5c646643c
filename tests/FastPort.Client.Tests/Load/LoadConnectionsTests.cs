using FastPort.Client.Load;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class LoadConnectionsTests
{
    [Theory]
    [InlineData("echo")]
    [InlineData("sink")]
    [InlineData("source")]
    public void Whatever_may_be_asked_for_makes_options_that_a_client_takes(string mode)
    {
        foreach (int connections in (int[])[1, LoadSettings.MaxConnections])
        {
            foreach (int inFlight in (int[])[1, LoadSettings.MaxInFlight])
            {
                foreach (int size in (int[])[0, 100_000, 250_000_000])
                {
                    LoadSettings settings = new()
                    {
                        Mode = Enum.Parse<LoadMode>(mode, ignoreCase: true),
                        Connections = connections,
                        InFlight = inFlight,
                        Size = size,
                    };

                    Assert.Empty(LoadConnections.Options(settings, "tcp://127.0.0.1:6628", size).Validate());
                }
            }
        }
    }

    [Fact]
    public async Task Says_why_it_does_not_connect_again()
    {
        FastPortServer server = await TestServer.StartAsync(TestServer.RawEcho());
        var lines = new Lines();
        await using var connections = new LoadConnections(
            TestRun.Short, server.Uri(), 64, new ConnectionWatch(lines, new LeapingTime()), static (_, _) => { });
        await connections.ConnectAsync(CancellationToken.None);
        Assert.Empty(connections.Disconnected());

        await server.DisposeAsync();

        string line = await lines.Retry.Task.WaitAsync(TestRun.Patience);
        Assert.Contains(server.Uri(), line, StringComparison.Ordinal);
        await Patience.UntilAsync(() => connections.Disconnected() is [0, 1], "no connection has a session");
    }

    private sealed class Lines : ILogger
    {
        public TaskCompletionSource<string> Retry { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool IsEnabled(LogLevel logLevel) => true;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            string line = formatter(state, exception);
            if (line.Contains("failed; the client retries", StringComparison.Ordinal))
            {
                Retry.TrySetResult(line);
            }
        }
    }

    // A second passes between any two lines.
    private sealed class LeapingTime : TimeProvider
    {
        private long _now;

        public override long GetTimestamp() => Interlocked.Add(ref _now, TimestampFrequency);
    }
}
