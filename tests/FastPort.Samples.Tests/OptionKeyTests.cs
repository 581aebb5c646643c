using System.Text.RegularExpressions;
using FastPort.Dashboard;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
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
                "options.md### Section `FastPort:Routing`", "websocket.md### Which pages may connect", "websocket.md### Compression",
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

        string[] keys = [.. Keys(options, string.Empty)];

        Assert.NotEmpty(keys);
        string[] missing = [.. keys.Where(key => !documented.Contains(key.Split(':')[^1]))];
        Assert.Empty(missing);
    }

    // What a host's start says of the section with the one key.
    private static string Problems(string options, string key)
    {
        IConfiguration Section(string name) => new ConfigurationBuilder()
            .AddInMemoryCollection([new($"{name}:{key}", "1")])
            .Build();
        IServiceCollection services = new ServiceCollection();
        switch (options)
        {
            case nameof(FastPortServerOptions):
                services.AddFastPort(Section(FastPortServerOptions.SectionName));
                return Problems<FastPortServerOptions>(services);
            case nameof(FastPortClientOptions):
                services.AddFastPortClient(Section(FastPortClientOptions.SectionName));
                return Problems<FastPortClientOptions>(services);
            case nameof(OpcUaClientOptions):
                services.AddOpcUaClient(Section(OpcUaClientOptions.SectionName));
                return Problems<OpcUaClientOptions>(services);
            case nameof(OpcUaServerOptions):
                services.AddOpcUaServer(Section(OpcUaServerOptions.SectionName));
                return Problems<OpcUaServerOptions>(services);
            case nameof(DashboardOptions):
                services.AddFastPortDashboard(Section(DashboardOptions.SectionName));
                return Problems<DashboardOptions>(services);
            default:
                services.AddFastPort(Section(LatencyStatsOptions.SectionName));
                return Problems<LatencyStatsOptions>(services);
        }
    }

    private static string Problems<TOptions>(IServiceCollection services)
        where TOptions : class
    {
        using ServiceProvider provider = services.BuildServiceProvider();
        IOptions<TOptions> options = provider.GetRequiredService<IOptions<TOptions>>();
        return string.Join('\n', (Record.Exception(() => options.Value) as OptionsValidationException)?.Failures ?? []);
    }

    // A section's message about an unknown key lists the known ones; those that are sections give such a message of their own.
    private static IEnumerable<string> Keys(string options, string path)
    {
        string prefix = path.Length == 0 ? string.Empty : $"{path}:";
        Match known = KnownKeys().Match(Problems(options, $"{prefix}{Unknown}"));
        foreach (string key in known.Success ? known.Groups[1].Value.Split(", ") : [])
        {
            yield return prefix + key;
            foreach (string inner in Keys(options, prefix + key))
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
