using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard;

/// <summary>
/// The level of the program's log. If the program registers one, readers with the token can change it if
/// <see cref="DashboardOptions.AllowActions"/> is set.
/// </summary>
public interface IDashboardLogLevel
{
    /// <summary>The lowest level that is logged. Set on any thread.</summary>
    LogLevel Level { get; set; }
}
