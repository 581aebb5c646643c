namespace FastPort.Comparisons.Scenarios;

/// <summary>Every scenario, in the order of <c>all</c>.</summary>
internal static class ScenarioCatalog
{
    public static IReadOnlyList<IScenario> All { get; } = [new EchoScenario()];
}
