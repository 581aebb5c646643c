using System.Text.Json.Serialization;
using FastPort.Dashboard.Sessions;

namespace FastPort.Dashboard.Live;

/// <summary>Serialization of the page's data, without reflection.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(LiveFigures))]
[JsonSerializable(typeof(LiveHistory))]
[JsonSerializable(typeof(SessionPage))]
internal sealed partial class DashboardJson : JsonSerializerContext;
