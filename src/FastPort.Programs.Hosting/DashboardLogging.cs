using FastPort.Dashboard;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Serilog;
using Serilog.Core;
using Serilog.Events;
using Serilog.Extensions.Logging;

namespace FastPort.Programs.Hosting;

/// <summary>The dashboard's connection to Serilog: a level that can be changed, and warnings that reach its page.</summary>
internal sealed class DashboardLogging : IDashboardLogLevel
{
    private readonly LoggingLevelSwitch _level;

    /// <param name="configuration">The program's configuration, whose level is the first one.</param>
    public DashboardLogging(IConfiguration configuration)
    {
        string? level = configuration["Serilog:MinimumLevel:Default"] ?? configuration["Serilog:MinimumLevel"];

        // Serilog refuses an invalid level with its own message.
        _level = new LoggingLevelSwitch(
            Enum.TryParse(level, ignoreCase: true, out LogEventLevel configured) ? configured : LogEventLevel.Information);
    }

    /// <summary>The host's logger providers: the dashboard's is one.</summary>
    public LoggerProviderCollection Providers { get; } = new();

    public LogLevel Level
    {
        get => LevelConvert.ToExtensionsLevel(_level.MinimumLevel);
        set => _level.MinimumLevel = LevelConvert.ToSerilogLevel(value);
    }

    /// <summary>Applies both to the program's logger.</summary>
    public void Configure(LoggerConfiguration logger) => logger
        .MinimumLevel.ControlledBy(_level)
        .WriteTo.Sink(new PlainTextSink(Providers), restrictedToMinimumLevel: LogEventLevel.Warning);
}
