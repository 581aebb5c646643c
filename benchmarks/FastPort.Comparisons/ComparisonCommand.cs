using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons;

/// <summary>The command line: one subcommand a scenario, and <c>all</c>.</summary>
internal static class ComparisonCommand
{
    private const int LargestPayload = 1024 * 1024 - 64;
    private const string BaselineInReports = "../before";
    private const int LargestPackage = 255 * 1024 * 1024;

    private static readonly Option<bool> Quick = new("--quick")
    {
        Description =
            "See only that every scenario runs: one short run of each candidate with the smallest messages. The figures mean nothing.",
        Recursive = true,
    };

    private static readonly Option<double?> Seconds = new("--seconds")
    {
        Description = "Measured seconds of each run, 0.1 to 3600 (2; opcua-readwrite and opcua-package 60).",
        Recursive = true,
    };

    private static readonly Option<int?> Repetitions = new("--repetitions")
    {
        Description = "Runs of each candidate, alternating between them, 1 to 99 (5; opcua-readwrite 3, of which the first does not count; "
            + "opcua-package 1).",
        Recursive = true,
    };

    private static readonly Option<double?> Warmup = new("--warmup")
    {
        Description = "Seconds of load on each new .NET process before its first measured run, 0.1 to 3600 (5; bridge 12).",
        Recursive = true,
    };

    private static readonly Option<int[]?> Sizes = new("--sizes")
    {
        Description = "Payload sizes in bytes, separated by commas, instead of each scenario's own.",
        CustomParser = ParseSizes,
        Recursive = true,
    };

    private static readonly Option<string[]?> Only = new("--only")
    {
        Description = "Measure only the workloads whose title contains this text; may be given several times.",
        Recursive = true,
    };

    private static readonly Option<double> Minutes = new("--minutes")
    {
        Description = "How long the soak lasts, 0.1 to 10,000.",
        DefaultValueFactory = _ => 30,
    };

    private static readonly Option<double> HostileMinutes = new("--minutes")
    {
        Description = "How long the attack lasts, 0.1 to 10,000.",
        DefaultValueFactory = _ => 60,
    };

    private static readonly Option<int> Delay = new("--delay")
    {
        Description = "Milliseconds that packets take each way between two networks, 0 to 1000 (0); by netem of the kernel.",
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

    private static readonly Option<string[]> Documents = new("--into")
    {
        Description =
            "A document that is written into; may be given several times. Each scenario has its place between two markers in one of them. "
            + "Without it reports of --quick are refused; those with failures or of --only always are.",
        DefaultValueFactory = _ => [Path.Combine("docs", "performance.md"), Path.Combine("docs", "measurements.md")],
    };

    private static readonly Option<ushort> QueuedType = new("--queued-type")
    {
        Description = "Message type of FastPort.Server's Queued echo. Defaults to 0x1001.",
        CustomParser = ParseMessageType,
        DefaultValueFactory = _ => 0x1001,
        Recursive = true,
    };

    private static readonly Option<string?> JsonFile = new("--json")
    {
        Description = "Write the report to this file as JSON.",
        Recursive = true,
    };

    private static readonly Option<string?> MarkdownFile = new("--markdown")
    {
        Description = "Write the report to this file as Markdown.",
        Recursive = true,
    };

    public static RootCommand Create()
    {
        Seconds.Validators.Add(option => RequireRange(option, 0.1, 3600));
        Warmup.Validators.Add(option => RequireRange(option, 0.1, 3600));
        Repetitions.Validators.Add(option => RequireRange(option, 1, 99));

        var root = new RootCommand(
            "Compares FastPort with other servers: whole processes, one load client for all, pinned to cores, runs alternating.")
        {
            Quick, Seconds, Repetitions, Warmup, Sizes, Only, QueuedType, RequirePeers, JsonFile, MarkdownFile,
        };
        foreach (IScenario scenario in ScenarioCatalog.All)
        {
            Command command = CommandFor(scenario.Name, scenario.Description, [scenario]);
            if (scenario is PeersScenario)
            {
                PeerArguments.AddTo(command);
            }

            root.Add(command);
        }

        Minutes.Validators.Add(option => RequireRange(option, 0.1, 10_000));
        Command soak = CommandFor(ScenarioCatalog.Soak.Name, ScenarioCatalog.Soak.Description, [ScenarioCatalog.Soak]);
        soak.Add(Minutes);
        root.Add(soak);
        root.Add(CommandFor(ScenarioCatalog.Attack.Name, ScenarioCatalog.Attack.Description, [ScenarioCatalog.Attack]));
        HostileMinutes.Validators.Add(option => RequireRange(option, 0.1, 10_000));
        Command hostile = CommandFor(ScenarioCatalog.Hostile.Name, ScenarioCatalog.Hostile.Description, [ScenarioCatalog.Hostile]);
        hostile.Add(HostileMinutes);
        root.Add(hostile);
        HostileCommands.AddTo(root);
        Command pairs = CommandFor(ScenarioCatalog.Pairs.Name, ScenarioCatalog.Pairs.Description, [ScenarioCatalog.Pairs]);
        pairs.Add(Baseline);
        root.Add(pairs);
        IScenario ticking = ScenarioCatalog.ReadWrite;
        Command readWrite = CommandFor(ticking.Name, ticking.Description, [ticking], ScenarioDefaults.ReadWrite);
        ReadWriteArguments.AddTo(readWrite, Quick, Repetitions);
        root.Add(readWrite);
        root.Add(
            CommandFor(
                ScenarioCatalog.Package.Name, ScenarioCatalog.Package.Description, [ScenarioCatalog.Package], ScenarioDefaults.Package,
                LargestPackage));
        Delay.Validators.Add(option => RequireRange(option, 0, 1000));
        Command speed = CommandFor(ScenarioCatalog.Speed.Name, ScenarioCatalog.Speed.Description, [ScenarioCatalog.Speed]);
        speed.Add(Delay);
        root.Add(speed);
        root.Add(
            CommandFor(
                ScenarioCatalog.Bridge.Name, ScenarioCatalog.Bridge.Description, [ScenarioCatalog.Bridge], ScenarioDefaults.Bridge));
        root.Add(
            CommandFor(
                ScenarioCatalog.Observed.Name, ScenarioCatalog.Observed.Description, [ScenarioCatalog.Observed],
                ScenarioDefaults.Observed));
        root.Add(CommandFor(ScenarioCatalog.Nodes.Name, ScenarioCatalog.Nodes.Description, [ScenarioCatalog.Nodes]));
        root.Add(CommandFor(ScenarioCatalog.NodesCosts.Name, ScenarioCatalog.NodesCosts.Description, [ScenarioCatalog.NodesCosts]));
        Command simulation = CommandFor(
            ScenarioCatalog.NodesSimulation.Name, ScenarioCatalog.NodesSimulation.Description, [ScenarioCatalog.NodesSimulation]);
        SimulationArguments.AddTo(simulation, RequireRange);
        root.Add(simulation);
        root.Add(
            CommandFor(
                "all",
                "Every scenario but the soak, the attacks, hostile, the pairs, opcua-readwrite, opcua-package, opcspeed, bridge, "
                + "observed, nodes, nodes-costs and nodes-simulation.",
                ScenarioCatalog.All));
        root.Add(CreateReportCommand());
        return root;
    }

    private static Command CommandFor(
        string name, string description, IReadOnlyList<IScenario> scenarios, ScenarioDefaults? defaults = null,
        int largestSize = LargestPayload)
    {
        var command = new Command(name, description);
        command.Validators.Add(result =>
        {
            if (result.GetResult(Sizes) is { Errors: var errors } && !errors.Any() && result.GetValue(Sizes) is { } sizes
                && sizes.Any(size => size > largestSize))
            {
                result.AddError($"--sizes {string.Join(',', sizes)}: '{sizes.Max()}' must be bytes from 0 to {largestSize}.");
            }
        });
        command.SetAction(
            (parsed, cancellation) =>
                ComparisonRun.RunAsync(scenarios, ReadOptions(parsed, defaults ?? ScenarioDefaults.Usual), cancellation));
        return command;
    }

    private static Command CreateReportCommand()
    {
        var command = new Command("report", "Writes measured tables into the documentation.") { Reports, Documents };
        command.SetAction(parsed => ReportRun.Run(
            parsed.GetRequiredValue(Reports),
            parsed.GetRequiredValue(Documents),
            allowsQuick: parsed.GetResult(Documents) is { Implicit: false }));
        return command;
    }

    private static ComparisonOptions ReadOptions(ParseResult parsed, ScenarioDefaults defaults)
    {
        bool quick = parsed.GetValue(Quick);
        bool full = ReadWriteArguments.IsFull(parsed);
        return new ComparisonOptions
        {
            Quick = quick,
            Seconds = parsed.GetValue(Seconds)
                ?? (full ? ReadWriteArguments.FullSeconds : quick ? defaults.QuickSeconds : defaults.Seconds),
            Repetitions = parsed.GetValue(Repetitions)
                ?? (full ? ReadWriteArguments.FullRepetitions : quick ? defaults.QuickRepetitions : defaults.Repetitions),
            WarmupSeconds = parsed.GetValue(Warmup) ?? (quick ? 0.3 : defaults.WarmupSeconds),
            LeadInSeconds = quick ? 0.1 : 0.5,
            Sizes = parsed.GetResult(Sizes) is null ? null : parsed.GetValue(Sizes),
            Only = parsed.GetValue(Only) ?? [],
            QueuedType = parsed.GetValue(QueuedType),
            SoakMinutes = parsed.GetResult(Minutes) is null ? 0 : parsed.GetValue(Minutes),
            HostileMinutes = parsed.GetResult(HostileMinutes) is null ? 0 : parsed.GetValue(HostileMinutes),
            DelayMilliseconds = parsed.GetResult(Delay) is null ? 0 : parsed.GetValue(Delay),
            Full = full,
            Peers = PeerArguments.Read(parsed),
            Simulation = SimulationArguments.Read(parsed),
            Security = ReadWriteArguments.SecurityOf(parsed),
            Baseline = parsed.GetResult(Baseline) is null ? null : parsed.GetValue(Baseline),
            JsonFile = parsed.GetValue(JsonFile),
            MarkdownFile = parsed.GetValue(MarkdownFile),
            CommandLine = Retyped(parsed),
            MissingIsError = parsed.GetValue(RequirePeers)
                || string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase),
        };
    }

    // Where the reports went, and where another checkout or server lies, says nothing about the figures in them, and would carry one
    // machine's paths into the documentation. The other checkout has to be given, so it has the name that the documentation gives it.
    private static string Retyped(ParseResult parsed)
    {
        string[] tokens = [.. parsed.Tokens.Select(token => token.Value)];
        return string.Join(
            ' ',
            tokens.Select((token, i) => i == 0 ? token
                : tokens[i - 1] == Baseline.Name ? BaselineInReports : PeerArguments.Told(tokens[i - 1], token))
                .Where((token, i) => !NamesReport(token) && (i == 0 || !NamesReport(tokens[i - 1])))
                .Select(static token => token.Contains(' ', StringComparison.Ordinal) ? $"'{token}'" : token));
    }

    private static bool NamesReport(string token) => token == JsonFile.Name || token == MarkdownFile.Name;

    private static void RequireRange(OptionResult option, double low, double high)
    {
        string text = option.Tokens.Count > 0 ? option.Tokens[0].Value : "";
        if (text.Length > 0 && (!double.TryParse(text, CultureInfo.InvariantCulture, out double value) || !(value >= low && value <= high)))
        {
            option.AddError($"{option.IdentifierToken?.Value} {text}: must be a number from {low} to {high}.");
        }
    }

    private static int[]? ParseSizes(ArgumentResult argument)
    {
        string text = string.Join(',', argument.Tokens.Select(token => token.Value));
        var sizes = new List<int>();
        foreach (string part in text.Split(','))
        {
            if (!int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out int size) || size > LargestPackage)
            {
                argument.AddError($"--sizes {text}: '{part}' must be bytes from 0 to {LargestPackage}.");
                return null;
            }

            sizes.Add(size);
        }

        return [.. sizes];
    }

    private static ushort ParseMessageType(ArgumentResult argument)
    {
        string text = argument.Tokens[0].Value;
        bool hexadecimal = text.StartsWith("0x", StringComparison.OrdinalIgnoreCase);
        NumberStyles style = hexadecimal ? NumberStyles.AllowHexSpecifier : NumberStyles.None;
        if (!ushort.TryParse(hexadecimal ? text.AsSpan(2) : text, style, CultureInfo.InvariantCulture, out ushort type))
        {
            argument.AddError($"--queued-type {text}: must be a message type from 0 to 0xFFFF, decimal or hexadecimal with 0x.");
        }

        return type;
    }
}
