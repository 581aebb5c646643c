using FastPort.Dashboard;
using FastPort.Samples.Tests.Snippets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What docs/dashboard.md shows does what it says.</summary>
public sealed class DashboardSnippetTests
{
    [Fact]
    public async Task A_host_has_a_dashboard()
    {
        using IHost host = DashboardSnippets.WithDashboard(
            ["--Dashboard:Url=http://127.0.0.1:0", "--FastPort:Endpoints:0=tcp://127.0.0.1:0"]);
        await host.StartAsync(TestContext.Current.CancellationToken);
        using var http = new HttpClient { BaseAddress = host.Services.GetRequiredService<DashboardServer>().Url };

        Assert.Contains(
            "<title>FastPort</title>", await http.GetStringAsync("/", TestContext.Current.CancellationToken), StringComparison.Ordinal);
        await host.StopAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public void The_level_of_the_log_can_be_changed()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        var level = new DashboardSnippets.LogLevelSwitch();
        level.AddTo(builder);
        builder.Services.AddSingleton<ILoggerProvider>(new Listening());
        using IHost host = builder.Build();
        ILogger logger = host.Services.GetRequiredService<ILoggerFactory>().CreateLogger("any");
        Assert.False(logger.IsEnabled(LogLevel.Debug));

        host.Services.GetRequiredService<IDashboardLogLevel>().Level = LogLevel.Debug;

        Assert.True(logger.IsEnabled(LogLevel.Debug));
    }

    private sealed class Listening : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
        }

        public void Dispose()
        {
        }
    }
}
