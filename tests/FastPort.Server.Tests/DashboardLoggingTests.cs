using FastPort.Programs.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Serilog;
using Serilog.Core;
using Xunit;
using ILogger = Microsoft.Extensions.Logging.ILogger;

namespace FastPort.Server.Tests;

/// <summary>What the dashboard's page gets of the program's log.</summary>
public sealed class DashboardLoggingTests
{
    [Fact]
    public void Warnings_reach_the_page_as_the_console_shows_them()
    {
        var page = new Page();
        var logging = new DashboardLogging(new ConfigurationBuilder().Build());
        logging.Providers.AddProvider(page);
        var configuration = new LoggerConfiguration();
        logging.Configure(configuration);
        using Logger log = configuration.CreateLogger();
        Serilog.ILogger backplane = log.ForContext(Constants.SourceContextPropertyName, "FastPort.Backplane");

        backplane.Information("Node '{Node}' has joined", "a");
        backplane.Warning(new TimeoutException("late"), "Node '{Node}' has left after {Count} relays", "b", 3);

        Assert.Equal("Warning FastPort.Backplane: Node 'b' has left after 3 relays (late)", Assert.Single(page.Lines));
    }

    private sealed class Page : ILoggerProvider, ILogger
    {
        private string _category = string.Empty;

        public List<string> Lines { get; } = [];

        public ILogger CreateLogger(string categoryName)
        {
            _category = categoryName;
            return this;
        }

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Lines.Add($"{logLevel} {_category}: {formatter(state, exception)} ({exception?.Message})");

        public bool IsEnabled(LogLevel logLevel) => true;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public void Dispose()
        {
        }
    }
}
