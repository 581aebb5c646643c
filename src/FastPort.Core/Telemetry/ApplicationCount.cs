namespace FastPort.Telemetry;

/// <summary>A count of the application at one moment, see <see cref="LatencyStats.AddCount"/>. Immutable.</summary>
/// <param name="Owner">Its owner, such as a device.</param>
/// <param name="Name">Its name in files.</param>
/// <param name="Count">Its growth since measuring began.</param>
/// <param name="Per">Growth of the count by which it is divided; null for a count that is shown as it is.</param>
public sealed record ApplicationCount(string Owner, string Name, long Count, long? Per);
