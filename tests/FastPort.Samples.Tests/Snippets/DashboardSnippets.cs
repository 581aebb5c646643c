using FastPort.Dashboard;
using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>A dashboard in a program's own host, shown in docs/dashboard.md.</summary>
internal static class DashboardSnippets
{
    // docs: host
    public static IHost WithDashboard(string[] args)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddFastPort(builder.Configuration).Map(static handlers => handlers.MapDiagnostics());
        builder.Services.AddFastPortDashboard(builder.Configuration, static dashboard =>
        {
            if (dashboard.Url.Length == 0)
            {
                dashboard.Url = "http://127.0.0.1:6680";
            }
        });
        return builder.Build();
    }

    // docs: end

    // docs: level
    public sealed class LogLevelSwitch : IDashboardLogLevel
    {
        // volatile: set by a request, read by every thread that logs.
        private volatile LogLevel _level = LogLevel.Information;

        public LogLevel Level
        {
            get => _level;
            set => _level = value;
        }

        public void AddTo(IHostApplicationBuilder builder)
        {
            builder.Services.AddSingleton<IDashboardLogLevel>(this);
            builder.Logging.SetMinimumLevel(LogLevel.Trace);
            builder.Logging.AddFilter(level => level >= _level);
        }
    }

    // docs: end
}
