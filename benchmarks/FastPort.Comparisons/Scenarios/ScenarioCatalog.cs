namespace FastPort.Comparisons.Scenarios;

/// <summary>The scenarios.</summary>
internal static class ScenarioCatalog
{
    /// <summary>What <c>all</c> runs, in this order.</summary>
    public static IReadOnlyList<IScenario> All { get; } =
    [
        new EchoScenario(), new PeersScenario(), new MessagingScenario(), new IdleScenario(), new CoresScenario(), new SpinningScenario(),
        new SecurityScenario(), new OpcUaScenario(),
    ];

    /// <summary>Compares nobody and lasts as long as it is told to, so <c>all</c> leaves it out.</summary>
    public static IScenario Soak { get; } = new SoakScenario();

    /// <summary>Lasts minutes to hours, most of which nothing happens in, so <c>all</c> leaves it out.</summary>
    public static IScenario ReadWrite { get; } = new OpcUaReadWriteScenario();

    /// <summary>Measures for a minute what <c>opcua</c> measures for seconds, so <c>all</c> leaves it out.</summary>
    public static IScenario Package { get; } = new OpcUaPackageScenario();

    /// <summary>Compares nobody: a published table is to be filled in, so <c>all</c> leaves it out.</summary>
    public static IScenario Speed { get; } = new OpcSpeedScenario();

    /// <summary>Measures the bridge alone, beside which <c>opcua</c> has the same requests, so <c>all</c> leaves it out.</summary>
    public static IScenario Bridge { get; } = new BridgeScenario();

    /// <summary>Compares FastPort with itself, so <c>all</c> leaves it out.</summary>
    public static IScenario Observed { get; } = new ObservedScenario();

    /// <summary>Needs Redis, and asks about several servers, so <c>all</c> leaves it out.</summary>
    public static IScenario Nodes { get; } = new NodesScenario();

    /// <summary>Compares nobody: what nodes-simulation calculates with, so <c>all</c> leaves it out and no report of it is kept.</summary>
    public static IScenario NodesCosts { get; } = new NodesCostsScenario();

    /// <summary>Measures nothing: what was measured is calculated with, so <c>all</c> leaves it out and no report of it is kept.</summary>
    public static IScenario NodesSimulation { get; } = new NodesSimulationScenario();

    /// <summary>Compares FastPort with itself, and needs to be told with which, so <c>all</c> leaves it out.</summary>
    public static IScenario Pairs { get; } = new PairsScenario();

    /// <summary>Compares nobody either: what it measures has a limit in seconds.</summary>
    public static IScenario Attack { get; } = new AttackScenario();

    /// <summary>Compares nobody, and lasts as long as it is told to.</summary>
    public static IScenario Hostile { get; } = new HostileScenario();
}
