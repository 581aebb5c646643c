using System.Text.Json;
using FastPort.Dashboard.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>What pages get of the nodes that a server is one of.</summary>
public sealed class LiveNodeTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task NodesAreShownWithTheRatesOfTheSecond()
    {
        var time = new FakeTimeProvider();
        var nodes = new Nodes
        {
            Known =
            [
                new NodeInfo("a") { IsSelf = true, LeaseLeft = TimeSpan.FromSeconds(4.21) },
                new NodeInfo("b")
                {
                    Lag = TimeSpan.FromMicroseconds(150), QueuedBytes = 7, RelaysSent = 100, BatchesSent = 10, BatchBytesSent = 900,
                },
                new NodeInfo("c") { IsCompatible = false, RelaysSent = 100 },
            ],
        };
        await using var feed = new Feed(time, nodes);
        await feed.TakenAsync(1);
        nodes.Known =
        [
            nodes.Known[0],
            nodes.Known[1] with { RelaysSent = 400, BatchesSent = 12, BatchBytesSent = 1900 },

            // Started again.
            new NodeInfo("c") { RelaysSent = 5 },
            new NodeInfo("d"),
        ];
        time.Advance(Second);
        await feed.TakenAsync(2);

        JsonElement shown = (await feed.LatestAsync()).GetProperty("nodes");

        Assert.Equal(
            [
                "a self 4.2 lag - waiting 0 sent - - -",
                "b - lag 150 waiting 7 sent 300 2 1000",
                "c - lag - waiting 0 sent - 0 0",
                "d - lag - waiting 0 sent - - -",
            ],
            shown.EnumerateArray().Select(static one =>
                $"{one.GetProperty("name")}{(one.GetProperty("isSelf").GetBoolean() ? " self" : "")} {Text(one, "leaseSeconds")} "
                + $"lag {Text(one, "lagMicroseconds")} waiting {Text(one, "queuedBytes")} "
                + $"sent {Text(one, "relays")} {Text(one, "batches")} {Text(one, "batchBytes")}"));
        Assert.All(shown.EnumerateArray(), static one => Assert.True(one.GetProperty("isCompatible").GetBoolean()));

        static string Text(JsonElement one, string name) =>
            one.GetProperty(name) is { ValueKind: JsonValueKind.Number } number ? number.GetRawText() : "-";
    }

    [Fact]
    public async Task TwoNodesOfOneNameAreShownWithoutRates()
    {
        var time = new FakeTimeProvider();
        var nodes = new Nodes { Known = [new NodeInfo("a") { RelaysSent = 1 }, new NodeInfo("b") { RelaysSent = 1 }] };
        await using var feed = new Feed(time, nodes);
        await feed.TakenAsync(1);
        nodes.Known = [new NodeInfo("a") { RelaysSent = 9 }, new NodeInfo("a") { RelaysSent = 7 }, new NodeInfo("b") { RelaysSent = 3 }];
        time.Advance(Second);
        await feed.TakenAsync(2);
        Assert.Equal(["a null", "a null", "b 2"], await ShownAsync());

        time.Advance(Second);
        await feed.TakenAsync(3);
        nodes.Known = [new NodeInfo("a") { RelaysSent = 10 }];
        time.Advance(Second);
        await feed.TakenAsync(4);
        Assert.Equal(["a null"], await ShownAsync());

        async Task<IEnumerable<string>> ShownAsync() => (await feed.LatestAsync()).GetProperty("nodes").EnumerateArray()
            .Select(static one => $"{one.GetProperty("name")} {one.GetProperty("relays").GetRawText()}");
    }

    [Fact]
    public async Task ASecondThatCannotBeReadIsLeftOutOfTheRatesAfterIt()
    {
        var time = new FakeTimeProvider();
        var nodes = new Nodes { Known = [new NodeInfo("a")] };
        await using var feed = new Feed(time, nodes);
        LatencySeries series = feed.Stats.ForType(1);
        await feed.TakenAsync(1);
        series.RecordHandled(3000, 500, 1000);
        time.Advance(Second);
        await feed.TakenAsync(2);
        nodes.IsBroken = true;
        time.Advance(Second);
        await Patience.UntilAsync(() => feed.Log.Lines.Count == 1, "a second cannot be read");
        nodes.IsBroken = false;
        nodes.Known = [new NodeInfo("a") { RelaysSent = 50 }];
        for (int i = 0; i < 100; i++)
        {
            series.RecordHandled(3000, 500, 1000);
        }

        time.Advance(Second);
        await feed.TakenAsync(3);

        JsonElement figures = await feed.LatestAsync();
        Assert.Equal(100, figures.GetProperty("point").GetProperty("latencies")[1][0].GetDouble());
        Assert.Equal(JsonValueKind.Null, figures.GetProperty("nodes")[0].GetProperty("relays").ValueKind);
    }

    private sealed class Nodes : INodes
    {
        private volatile bool _isBroken;

        public bool IsBroken
        {
            set => _isBroken = value;
        }

        public IReadOnlyList<NodeInfo> Known { get; set; } = [];

        public IReadOnlyList<NodeInfo> Read() => _isBroken ? throw new InvalidOperationException("broken") : Known;
    }
}
