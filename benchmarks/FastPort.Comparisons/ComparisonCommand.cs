using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons;

/// <summary>The command line: one subcommand a scenario, <c>all</c>, and <c>report</c>.</summary>
internal static class ComparisonCommand
{
    private const string BaselineInReports = "../before";

    private static readonly Option<bool> Quick = new("--quick")
    {
        Description =
            "See only that every scenario runs: one short run of each candidate with the smallest messages. The figures mean nothing.",
        Recursive = true,
    };

    private static readonly Option<double?> Seconds = new("--seconds")
    {
        Description = "Measured seconds of each run, 0.1 to 3600 (2; opcua-readwrite 60, observed 11).",
        Recursive = true,
    };

    private static readonly Option<int?> Repetitions = new("--repetitions")
    {
        Description = "Runs of each candidate, alternating between them, 1 to 99 (5; opcua-readwrite 3, of which the first does not count; "
            + "observed 20).",
        Recursive = true,
    };

    private static readonly Option<double?> Warmup = new("--warmup")
    {
        Description = "Seconds of load on each new .NET process before its first measured run, 0.1 to 3600 (5; bridge 12).",
        Recursive = true,
    };

    private static readonly Option<string[]?> Only = new("--only")
    {
        Description = "Measure only the workloads whose title contains this text; may be given several times.",
        Recursive = true,
    };

    private static readonly Option<double?> Minutes = new("--minutes")
    {
        Description = "How long the load lasts, 0.1 to 10,000 (soak 30, hostile 60).",
    };

    private static readonly Option<string?> Baseline = new("--baseline")
    {
        Description = "Folder of another checkout of FastPort, built in the same configuration.",
        Required = true,
    };

    private static readonly Option<bool> RequirePeers = new("--require-peers")
    {
        Description = "A peer or tool that is missing is an error rather than a note; so it is where the environment says CI=true.",
        Recursive = true,
    };

    private static readonly Argument<string[]> Reports = new("JSON")
    {
        Description = "Reports written with --json.",
        Arity = ArgumentArity.OneOrMore,
    };

    private static readonly Option<string> Folder = new("--into")
    {
        Description = "The folder of the pages. Without it reports of --quick are refused; those with failures or of --only always are.",
        DefaultValueFactory = _ => Path.Combine("docs", "measurements"),
    };

    private static readonly Option<string?> JsonFile = new("--json")
    {
        Description = "Write the report to this file as JSON.",
        Recursive = true,
    };

    public static RootCommand Create()
    {
        Seconds.Validators.Add(option => RequireRange(option, 0.1, 3600));
        Warmup.Validators.Add(option => RequireRange(option, 0.1, 3600));
        Repetitions.Validators.Add(option => RequireRange(option, 1, 99));
        Minutes.Validators.Add(option => RequireRange(option, 0.1, 10_000));

        var root = new RootCommand(
            "Compares FastPort with other servers: whole processes, one load client for all, pinned to cores, runs alternating.")
        {
            Quick, Seconds, Repetitions, Warmup, Only, RequirePeers, JsonFile,
        };
        foreach (IScenario scenario in ScenarioCatalog.Usual.Concat(ScenarioCatalog.Others))
        {
            Command command = CommandFor(scenario.Name, scenario.Description, [scenario], scenario.Defaults);
            AddOwnOptions(command, scenario);
            root.Add(command);
        }

        root.Add(
            CommandFor(
                "all", $"{string.Join(", ", ScenarioCatalog.Usual.Select(static scenario => scenario.Name))}, one after the other.",
                ScenarioCatalog.Usual, ScenarioDefaults.Usual));
        root.Add(CreateReportCommand());
        HostileCommands.AddTo(root);
        return root;
    }

    private static void AddOwnOptions(Command command, IScenario scenario)
    {
        switch (scenario)
        {
            case PeersScenario:
                PeerArguments.AddTo(command);
                break;
            case PairsScenario:
                command.Add(Baseline);
                break;
            case SoakScenario or HostileScenario:
                command.Add(Minutes);
                break;
            case NodesSimulationScenario:
                SimulationArguments.AddTo(command, RequireRange);
                break;
        }
    }

    private static Command CommandFor(
        string name, string description, IReadOnlyList<IScenario> scenarios, ScenarioDefaults defaults)
    {
        var command = new Command(name, description);
        if (defaults.FewestRepetitions > 1)
        {
            command.Validators.Add(result =>
            {
                if (result.GetValue(Repetitions) < defaults.FewestRepetitions)
                {
                    result.AddError("--repetitions 1: the first repetition is warm-up and does not count; give 2 or more.");
                }
            });
        }

        command.SetAction(
            (parsed, cancellation) => ComparisonRun.RunAsync(scenarios, ReadOptions(parsed, defaults), cancellation));
        return command;
    }

    private static Command CreateReportCommand()
    {
        var command = new Command("report", "Writes what was measured into the documentation, a page for each scenario.")
        {
            Reports, Folder,
        };
        command.SetAction(parsed => ReportRun.Run(
            parsed.GetRequiredValue(Reports),
            parsed.GetRequiredValue(Folder),
            allowsQuick: parsed.GetResult(Folder) is { Implicit: false }));
        return command;
    }

    private static ComparisonOptions ReadOptions(ParseResult parsed, ScenarioDefaults defaults)
    {
        bool quick = parsed.GetValue(Quick);
        return new ComparisonOptions
        {
            Quick = quick,
            Seconds = parsed.GetValue(Seconds) ?? (quick ? defaults.QuickSeconds : defaults.Seconds),
            Repetitions = parsed.GetValue(Repetitions) ?? (quick ? defaults.QuickRepetitions : defaults.Repetitions),
            WarmupSeconds = parsed.GetValue(Warmup) ?? (quick ? 0.3 : defaults.WarmupSeconds),
            LeadInSeconds = quick ? 0.1 : 0.5,
            Only = parsed.GetValue(Only) ?? [],
            Minutes = parsed.GetResult(Minutes) is null ? null : parsed.GetValue(Minutes),
            Peers = PeerArguments.Read(parsed),
            Simulation = SimulationArguments.Read(parsed),
            Baseline = parsed.GetResult(Baseline) is null ? null : parsed.GetValue(Baseline),
            JsonFile = parsed.GetValue(JsonFile),
            CommandLine = Retyped(parsed),
            MissingIsError = parsed.GetValue(RequirePeers)
                || string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase),
        };
    }

    // Where the report went, and where another checkout or server lies, says nothing about the figures in it, and would carry one
    // machine's paths into the documentation. The other checkout has to be given, so it has the name that the documentation gives it.
    private static string Retyped(ParseResult parsed)
    {
        string[] tokens = [.. parsed.Tokens.Select(token => token.Value)];
        return string.Join(
            ' ',
            tokens.Select((token, i) => i == 0 ? token
                : tokens[i - 1] == Baseline.Name ? BaselineInReports : PeerArguments.Told(tokens[i - 1], token))
                .Where((token, i) => token != JsonFile.Name && (i == 0 || tokens[i - 1] != JsonFile.Name))
                .Select(static token => token.Contains(' ', StringComparison.Ordinal) ? $"'{token}'" : token));
    }

    private static void RequireRange(OptionResult option, double low, double high)
    {
        string text = option.Tokens.Count > 0 ? option.Tokens[0].Value : "";
        if (text.Length > 0 && (!double.TryParse(text, CultureInfo.InvariantCulture, out double value) || !(value >= low && value <= high)))
        {
            option.AddError($"{option.IdentifierToken?.Value} {text}: must be a number from {low} to {high}.");
        }
    }
}
