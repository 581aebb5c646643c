using System.Diagnostics.Metrics;
using System.Text.RegularExpressions;
using FastPort.Tags;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>The table in docs/metrics.md has the instruments that there are, with their units.</summary>
public sealed partial class InstrumentNamesTests
{
    [Fact]
    public async Task The_table_has_all_instruments_and_no_others()
    {
        var published = new SortedDictionary<string, string>(StringComparer.Ordinal);
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (instrument.Meter.Name == "FastPort")
                {
                    lock (published)
                    {
                        published[instrument.Name] = instrument.Unit ?? string.Empty;
                        Assert.False(string.IsNullOrEmpty(instrument.Description), $"{instrument.Name} has no description.");
                    }
                }
            },
        };
        listener.Start();
        using IHost host = BuildOfEverything();
        using IHost node = BuildNode();
        Assert.NotEmpty(node.Services.GetServices<IHostedService>());
        await using var tags = new TagServer([new MemoryTagSource("memory")]);
        await host.StartAsync(TestContext.Current.CancellationToken);
        await host.StopAsync(TestContext.Current.CancellationToken);

        lock (published)
        {
            Assert.Equal(ReadTable(), published);
        }
    }

    // A server, a client, and what an application measures with it.
    private static IHost BuildOfEverything()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(
        [
            KeyValuePair.Create("FastPort:Endpoints:0", (string?)"tcp://127.0.0.1:0"),
            KeyValuePair.Create("Peer:Endpoint", (string?)"inproc://nobody"),
            KeyValuePair.Create("Peer:RetryConnect", (string?)"true"),
        ]);
        builder.Services.AddMetrics();
        builder.Services.AddFastPort(builder.Configuration);
        builder.Services.AddKeyedSingleton("peer", new LatencyStats(LatencyRole.Client));
        builder.Services.AddFastPortClient("peer", builder.Configuration.GetSection("Peer"));
        return builder.Build();
    }

    // One of several nodes. It has its instruments before it starts, and needs no Redis for them.
    private static IHost BuildNode()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Services.AddMetrics();
        builder.Services.AddFastPort(builder.Configuration).AddRedisBackplane(builder.Configuration);
        return builder.Build();
    }

    private static SortedDictionary<string, string> ReadTable()
    {
        string root = AppContext.BaseDirectory[..AppContext.BaseDirectory.IndexOf("/tests/", StringComparison.Ordinal)];
        var table = new SortedDictionary<string, string>(StringComparer.Ordinal);
        string[] lines = File.ReadAllLines(Path.Combine(root, "docs", "metrics.md"));
        foreach (string row in lines.Where(static line => line.StartsWith("| `fastport.", StringComparison.Ordinal)))
        {
            string[] cells = row.Split('|', StringSplitOptions.TrimEntries);
            foreach (Match name in Quoted.Matches(cells[1]))
            {
                table.Add(name.Groups[1].Value, cells[3].Trim('`'));
            }
        }

        return table;
    }

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Quoted { get; }
}
