using System.Text.RegularExpressions;
using FastPort.Clients;
using FastPort.Configuration;
using FastPort.Dashboard;
using FastPort.Hosting;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>Every key of the options that programs read is named, as code, where the documents list those options.</summary>
public sealed partial class OptionKeyTests
{
    private const string Unknown = "NoSuchKey";

    private static readonly string[] OfServers =
        ["options.md### Section `FastPort`", "tls.md### Options of the server", "rates-and-bans.md### Rates"];

    public static TheoryData<string, string[]> Pages => new()
    {
        {
            nameof(FastPortServerOptions),
            [
                .. OfServers, "options.md### Section `FastPort:Session`", "options.md### Section `FastPort:Backplane`",
                "options.md### Section `FastPort:Routing`",
            ]
        },
        {
            nameof(FastPortClientOptions),
            [
                "options.md### Client library (`FastPortClientOptions`; in a host section `FastPortClient`)",
                "options.md### Section `FastPort:Session`",
            ]
        },
        { nameof(OpcUaClientOptions), ["opc-ua-options.md### Options of the client"] },
        { nameof(OpcUaServerOptions), ["opc-ua-options.md### Options of the server", "opc-ua-options.md### Limits", .. OfServers] },
        { nameof(DashboardOptions), ["dashboard.md### Options"] },
        { nameof(LatencyStatsOptions), ["latency-reports.md### Configuration"] },
    };

    [Theory]
    [MemberData(nameof(Pages))]
    public void Every_key_is_documented(string options, string[] sections)
    {
        ArgumentNullException.ThrowIfNull(sections);
        HashSet<string> documented = [.. sections.SelectMany(NamesIn)];

        string[] keys = [.. Keys(Options(options), string.Empty)];

        Assert.NotEmpty(keys);
        string[] missing = [.. keys.Where(key => !documented.Contains(key.Split(':')[^1]))];
        Assert.Empty(missing);
    }

    private static Action<OptionSection> Options(string name) => name switch
    {
        nameof(FastPortServerOptions) => new FastPortServerOptions().Describe,
        nameof(FastPortClientOptions) => new FastPortClientOptions().Describe,
        nameof(OpcUaClientOptions) => new OpcUaClientOptions().Describe,
        nameof(OpcUaServerOptions) => new OpcUaServerOptions().Describe,
        nameof(DashboardOptions) => new DashboardOptions().Describe,
        _ => new LatencyStatsOptions().Describe,
    };

    // A section's message about an unknown key lists the known ones; those that are sections give such a message of their own.
    private static IEnumerable<string> Keys(Action<OptionSection> describe, string path)
    {
        string prefix = path.Length == 0 ? string.Empty : $"{path}:";
        IConfiguration configuration = new ConfigurationBuilder()
            .AddInMemoryCollection([new($"Options:{prefix}{Unknown}", "1")])
            .Build();
        List<string> problems = [];
        OptionSection.Visit("Options", problems, configuration.GetSection("Options"), describe);
        Match known = KnownKeys().Match(string.Join('\n', problems));
        foreach (string key in known.Success ? known.Groups[1].Value.Split(", ") : [])
        {
            yield return prefix + key;
            foreach (string inner in Keys(describe, prefix + key))
            {
                yield return inner;
            }
        }
    }

    private static IEnumerable<string> NamesIn(string section)
    {
        string[] place = section.Split('#', 2);
        string[] lines = File.ReadAllLines(Path.Combine(Repository.Root, "docs", place[0]));
        string[] found = [.. lines.SkipWhile(l => l != place[1])];
        Assert.True(found.Length != 0, $"docs/{place[0]} has no '{place[1]}'.");
        string level = place[1].Split(' ')[0];
        IEnumerable<string> part = found.Skip(1).TakeWhile(l => !Heading().IsMatch(l) || l.Split(' ')[0].Length > level.Length);
        return Code().Matches(string.Join('\n', [found[0], .. part]))
            .SelectMany(static code => Word().Matches(code.Value).Select(static word => word.Value));
    }

    [GeneratedRegex($"{Unknown} is not a known key; known keys: (.+)\\.")]
    private static partial Regex KnownKeys();

    [GeneratedRegex("^#{2,4} ")]
    private static partial Regex Heading();

    [GeneratedRegex("`[^`\n]+`")]
    private static partial Regex Code();

    [GeneratedRegex("\\w+")]
    private static partial Regex Word();
}
