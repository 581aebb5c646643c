using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons;

/// <summary>The command line: one subcommand a scenario, and <c>all</c>.</summary>
internal static class ComparisonCommand
{
    private const int LargestPayload = 1024 * 1024 - 64;

    private static readonly Option<double> Seconds = new("--seconds")
    {
        Description = "Measured seconds of each run, 0.1 to 3600.",
        DefaultValueFactory = _ => 3,
        Recursive = true,
    };

    private static readonly Option<int> Repetitions = new("--repetitions")
    {
        Description = "Runs of each candidate, alternating between them, 1 to 99.",
        DefaultValueFactory = _ => 5,
        Recursive = true,
    };

    private static readonly Option<double> Warmup = new("--warmup")
    {
        Description = "Seconds of load on each new server process before its first measured run, 0.1 to 3600.",
        DefaultValueFactory = _ => 5,
        Recursive = true,
    };

    private static readonly Option<int[]> Sizes = new("--sizes")
    {
        Description = "Payload sizes in bytes, separated by commas.",
        CustomParser = ParseSizes,
        DefaultValueFactory = _ => [64, 1024, 8192],
        Recursive = true,
    };

    private static readonly Option<ushort> QueuedType = new("--queued-type")
    {
        Description = "Message type of FastPort.Server's Queued echo. Defaults to 0x1001.",
        CustomParser = ParseMessageType,
        DefaultValueFactory = _ => 0x1001,
        Recursive = true,
    };

    private static readonly Option<string?> JsonFile = new("--json") { Description = "Write the report to this file as JSON.", Recursive = true };

    private static readonly Option<string?> MarkdownFile = new("--markdown")
    {
        Description = "Write the report to this file as a Markdown section.",
        Recursive = true,
    };

    private static readonly Option<Subject> Subject = new("--subject")
    {
        Description = "What takes FastPort's place: Kestrel compares the peer with itself, which shows the noise of the machine.",
        DefaultValueFactory = _ => Comparisons.Subject.FastPort,
        Recursive = true,
        Hidden = true,
    };

    public static RootCommand Create()
    {
        Seconds.Validators.Add(option => RequireRange(option, 0.1, 3600));
        Warmup.Validators.Add(option => RequireRange(option, 0.1, 3600));
        Repetitions.Validators.Add(option => RequireRange(option, 1, 99));

        var root = new RootCommand("Compares FastPort with other servers: whole processes, one load client for all, pinned to cores, runs alternating.")
        {
            Seconds, Repetitions, Warmup, Sizes, QueuedType, JsonFile, MarkdownFile, Subject,
        };
        foreach (IScenario scenario in ScenarioCatalog.All)
        {
            root.Add(CommandFor(scenario.Name, scenario.Description, [scenario]));
        }

        root.Add(CommandFor("all", "Every scenario.", ScenarioCatalog.All));
        return root;
    }

    private static Command CommandFor(string name, string description, IReadOnlyList<IScenario> scenarios)
    {
        var command = new Command(name, description);
        command.SetAction((parsed, cancellation) => ComparisonRun.RunAsync(scenarios, ReadOptions(parsed), cancellation));
        return command;
    }

    private static ComparisonOptions ReadOptions(ParseResult parsed) => new()
    {
        Seconds = parsed.GetValue(Seconds),
        Repetitions = parsed.GetValue(Repetitions),
        WarmupSeconds = parsed.GetValue(Warmup),
        Sizes = parsed.GetValue(Sizes) ?? [],
        QueuedType = parsed.GetValue(QueuedType),
        Subject = parsed.GetValue(Subject),
        JsonFile = parsed.GetValue(JsonFile),
        MarkdownFile = parsed.GetValue(MarkdownFile),
        CommandLine = Retyped(parsed),
        MissingIsError = string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase),
    };

    // Where the reports went says nothing about the figures in them, and would carry one machine's paths into the documentation.
    private static string Retyped(ParseResult parsed)
    {
        string[] tokens = [.. parsed.Tokens.Select(token => token.Value)];
        return string.Join(' ', tokens.Where((token, i) => !NamesReport(token) && (i == 0 || !NamesReport(tokens[i - 1]))));
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
            if (!int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out int size) || size > LargestPayload)
            {
                argument.AddError($"--sizes {text}: '{part}' must be bytes from 0 to {LargestPayload}.");
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
