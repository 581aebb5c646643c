using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>A set of workloads that answers one question, with a subcommand of its own.</summary>
internal interface IScenario
{
    /// <summary>Name on the command line and in the reports.</summary>
    string Name { get; }

    /// <summary>One sentence for the help text and the reports.</summary>
    string Description { get; }

    /// <summary>How long it measures and how often, where nobody says.</summary>
    ScenarioDefaults Defaults => ScenarioDefaults.Usual;

    /// <summary>Measures every workload. What fails or is missing becomes part of the report; only cancellation throws.</summary>
    Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation);
}
