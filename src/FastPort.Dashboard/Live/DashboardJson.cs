using System.Text.Json.Serialization;
using FastPort.Dashboard.Sessions;

namespace FastPort.Dashboard.Live;

/// <summary>How the page's data is written, without reflection.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(LiveFigures))]
[JsonSerializable(typeof(LiveHistory))]
[JsonSerializable(typeof(SessionPage))]
internal sealed partial class DashboardJson : JsonSerializerContext;
