namespace FastPort.Comparisons.Scenarios;

/// <summary>The scenarios, each with a subcommand.</summary>
internal static class ScenarioCatalog
{
    /// <summary>What <c>all</c> runs, in this order.</summary>
    public static IReadOnlyList<IScenario> Usual { get; } =
    [
        new EchoScenario(), new ServicesScenario(), new PeersScenario(), new MessagingScenario(), new IdleScenario(),
        new SpinningScenario(), new SecurityScenario(), new WebSocketScenario(), new OpcUaScenario(),
    ];

    /// <summary>
    /// What <c>all</c> leaves out, as it takes long, compares FastPort with itself or with nothing, or needs what a machine may lack.
    /// </summary>
    public static IReadOnlyList<IScenario> Others { get; } =
    [
        new OpcUaReadWriteScenario(), new OpcSpeedScenario(), new BridgeScenario(), new ColdScenario(), new ObservedScenario(),
        new TypeScriptScenario(), new NodesScenario(), new NodesCostsScenario(), new NodesSimulationScenario(), new PairsScenario(),
        new AttackScenario(), new HostileScenario(), new SoakScenario(),
    ];
}
