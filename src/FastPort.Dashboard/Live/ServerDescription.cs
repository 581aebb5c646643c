using System.Reflection;
using System.Runtime.InteropServices;
using FastPort.Dashboard.Tags;

namespace FastPort.Dashboard.Live;

/// <summary>A page's data about a server, other than figures.</summary>
internal sealed class ServerDescription(FastPortServer server, string name, bool allowsActions, IDashboardLogLevel? logLevel = null)
{
    private static readonly string Version = typeof(FastPortServer).Assembly
        .GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "-";

    public LiveHistory Describe(IReadOnlyList<LivePoint> points, IReadOnlyList<LiveWarning> warnings) => new()
    {
        Server = name,
        Version = Version,
        ProcessId = Environment.ProcessId,
        Processors = Environment.ProcessorCount,
        Runtime = $"{RuntimeInformation.FrameworkDescription}, {RuntimeInformation.OSDescription}",
        Endpoints = [.. server.Endpoints.Select(static endpoint => endpoint.ToString())],
        Seconds = LiveFeed.HistorySeconds,
        Columns = LivePoint.Columns,
        Points = points,
        Warnings = warnings,
        Tags = TagEndpoints.HasTags(server),
        Actions = allowsActions,
        LogLevel = logLevel?.Level.ToString(),
    };
}
