using FastPort.Interop.Tests.Peers;
using FastPort.Tags;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>The bridge in front of node-opcua's server: a client that speaks FastPort only.</summary>
public sealed class NodeOpcUaBridgeTests(ITestOutputHelper output)
{
    [NodeFact]
    public async Task Its_tags_are_browsed_read_written_called_and_watched_and_its_end_is_told()
    {
        RunningServer node = await StartAsync(null);
        await using BridgeUnderTest bridge = await StartBridgeAsync(node);
        TagClient client = bridge.Client;

        // Its server reads 500 and writes 150 at a time.
        TagList all = await client.ResolveAsync(Enumerable.Range(0, 2000).Select(static i => $"node/v{i}"));
        TagSamples samples = await client.ReadAsync(all);
        Assert.All(Enumerable.Range(0, 2000), row => Assert.Equal(
            row < 1000 ? (object)row : row < 1800 ? row / 2.0 : $"tag-value-{row}", samples[row].Value.ToObject()));
        Assert.Equal((TagType.Int32, -1, true), (all.Infos[0]!.Type, all.Infos[0]!.Rank, all.Infos[0]!.IsWritable));

        TagInfo level = (await client.ResolveAsync(["node/Level"])).Infos[0]!;
        Assert.Equal(("°C", (0.0, 200.0)), (level.Unit, level.Range));

        TagList some = await client.ResolveAsync(Enumerable.Range(0, 400).Select(static i => $"node/v{i}"));
        var values = new TagSamples();
        foreach (int _ in Enumerable.Range(0, 400))
        {
            values.Add(-5);
        }

        Assert.All(await client.WriteAsync(some, values), static status => Assert.Equal(TagStatus.Good, status));
        Assert.Equal(-5, (await client.ReadAsync("node/v399")).Value);
        Assert.Equal(TagStatus.BadTypeMismatch, await client.WriteAsync("node/v0", "x"));
        Assert.Equal([42], await client.CallAsync("node/Sum", [2, 40]));

        Assert.Equal(TagValue.FromArray([1, 2, 3]), (await client.ReadAsync("node/Row[1:3]")).Value);
        Assert.Equal(TagStatus.BadIndexRangeNoData, (await client.ReadAsync("node/Row[10:12]")).Status);
        Assert.Equal(TagStatus.BadIndexRangeInvalid, (await client.ReadAsync("node/Row[3:1]")).Status);
        Assert.Equal(TagStatus.Good, await client.WriteAsync("node/Row[2:3]", TagValue.FromArray([-2, -3])));
        Assert.Equal(TagValue.FromArray([1, -2, -3]), (await client.ReadAsync("node/Row[1:3]")).Value);

        TagList watched = await client.ResolveAsync(["node/v7"]);
        await using TagSubscription subscription = await client.SubscribeAsync(watched, new() { Interval = TimeSpan.FromMilliseconds(50) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal(-5, await NextAsync(changes));
        Assert.Equal(TagStatus.Good, await client.WriteAsync("node/v7", 8));
        Assert.Equal(8, await NextAsync(changes));

        await node.DisposeAsync();
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal((8, TagStatus.BadNoCommunication), (changes.Current.Sample.Value.Get<int>(), changes.Current.Sample.Status));
        Assert.Equal(TagStatus.BadNoCommunication, (await client.ReadAsync("node/v7")).Status);
    }

    [NodeFact]
    public Task Each_tag_has_a_status_of_its_own() => BridgeScenarios.HasAStatusForEachTagAsync(StartAsync);

    [NodeFact]
    public Task All_goes_on_when_the_server_is_killed_and_restarted() =>
        BridgeScenarios.GoesOnWhenTheServerIsKilledAsync(StartAsync, output.WriteLine);

    [NodeFact]
    public Task A_stuck_server_is_told_and_all_goes_on_when_it_answers_again() =>
        BridgeScenarios.GoesOnWhenTheServerWasStuckAsync(StartAsync);

    [NodeFact]
    public async Task A_tag_that_disappears_and_a_type_that_changes_with_a_restart_are_told_and_come_back()
    {
        RunningServer node = await StartAsync(null);
        await using BridgeUnderTest bridge = await StartBridgeAsync(node);
        TagClient client = bridge.Client;
        string[] names = ["node/Row", "node/v8", "node/v9"];
        TagList tags = await client.ResolveAsync(names);
        await using TagWatch watch = await TagWatch.StartAsync(client, names);
        TagValue row = TagValue.FromArray(Enumerable.Range(0, 10).ToArray());
        await watch.UntilAsync("node/Row", TagStatus.Good, row);
        await watch.UntilAsync("node/v8", TagStatus.Good, 8);
        await watch.UntilAsync("node/v9", TagStatus.Good, 9);

        await node.DisposeAsync();
        node = await StartAsync(node.Url, "changed");
        await watch.UntilAsync("node/Row", TagStatus.BadNodeIdUnknown);
        await watch.UntilAsync("node/v8", TagStatus.Good, "changed");
        await watch.UntilAsync("node/v9", TagStatus.Good, 9);
        await Patience.UntilAsync(() => bridge.Source.IsConnected, "the tags are listed again");
        TagSamples samples = await client.ReadAsync(tags);
        Assert.Equal(
            [TagStatus.BadNodeIdUnknown, TagStatus.Good, TagStatus.Good], Enumerable.Range(0, names.Length).Select(samples.GetStatus));
        Assert.Equal("changed", samples.GetValue(1));
        var values = new TagSamples();
        Array.ForEach([row, 2, 3], value => values.Add(value));
        Assert.Equal([TagStatus.BadNodeIdUnknown, TagStatus.BadTypeMismatch, TagStatus.Good], await client.WriteAsync(tags, values));
        Assert.Equal(TagStatus.Good, await client.WriteAsync("node/v8", "written"));
        await watch.UntilAsync("node/v8", TagStatus.Good, "written");
        await watch.UntilAsync("node/v9", TagStatus.Good, 3);

        await node.DisposeAsync();
        await using RunningServer last = await StartAsync(node.Url);
        await watch.UntilAsync("node/Row", TagStatus.Good, row);
        await watch.UntilAsync("node/v8", TagStatus.Good, 8);
        await Patience.UntilAsync(() => bridge.Source.IsConnected, "the tags are listed again");
        Assert.Equal(TagStatus.Good, await client.WriteAsync("node/Row", TagValue.FromArray([7])));
        await watch.UntilAsync("node/Row", TagStatus.Good, TagValue.FromArray([7]));
    }

    /// <summary>The clock stands still: the bridge does not look for tags in steps of its own.</summary>
    [NodeFact]
    public async Task A_tag_whose_node_appears_is_found_when_the_server_tells_so()
    {
        using var node = NodeProcess.Start("opcua/server.mjs", "0", "growing");
        Started started = await node.ReadLineAsync<Started>();
        var time = new FakeTimeProvider();
        await using BridgeUnderTest bridge = await BridgeUnderTest.StartAsync(
            mustLoad: true,
            time,
            [
                ("Endpoints:node:EndpointUrl", $"opc.tcp://127.0.0.1:{started.Port}"),
                .. Enumerable.Range(0, 3).SelectMany(i => TagOf(i, started.NamespaceUri)),
            ]);
        await using TagWatch watch = await TagWatch.StartAsync(bridge.Client, "w0", "w1", "w2");
        Assert.Equal(Enumerable.Repeat(TagStatus.BadNodeIdUnknown, 3), watch.Statuses);

        // From the first step on the bridge hears of changes.
        await node.SendLineAsync();
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return bridge.Source.Known.PresentCount == 1;
            },
            "the first tag is there");
        foreach (int number in (int[])[1, 2])
        {
            await node.SendLineAsync();
            await Patience.UntilAsync(() => bridge.Source.Known.PresentCount == number + 1, $"tag w{number} is there");
            await watch.UntilAsync($"w{number}", TagStatus.Good, number);
        }

        Assert.Empty(bridge.Log.WithId(8111));

        static IEnumerable<(string Key, string Value)> TagOf(int number, string namespaceUri) =>
        [
            ($"Tags:{number}:Name", $"w{number}"),
            ($"Tags:{number}:Endpoint", "node"),
            ($"Tags:{number}:NamespaceUri", namespaceUri),
            ($"Tags:{number}:NodeId", $"i={7000 + number}"),
        ];
    }

    private static Task<BridgeUnderTest> StartBridgeAsync(RunningServer node) => BridgeUnderTest.StartAsync(
        mustLoad: true,
        ("Endpoints:node:EndpointUrl", node.Url),
        ("Endpoints:node:AllowWrite", "true"),
        ("Endpoints:node:Below:0", $"nsu={node.NamespaceUri};i=90000"));

    private static Task<RunningServer> StartAsync(string? url) => StartAsync(url, []);

    private static async Task<RunningServer> StartAsync(string? url, params string[] how)
    {
        var node = NodeProcess.Start("opcua/server.mjs", [$"{(url is null ? 0 : new Uri(url).Port)}", .. how]);
        Started started = await node.ReadLineAsync<Started>();
        return new RunningServer($"opc.tcp://127.0.0.1:{started.Port}", started.NamespaceUri, new Killed(node));
    }

    private static async Task<int> NextAsync(IAsyncEnumerator<TagChange> changes)
    {
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(TagStatus.Good, changes.Current.Sample.Status);
        return changes.Current.Sample.Value.Get<int>();
    }

    private sealed record Started(int Port, string NamespaceUri);

    private sealed class Killed(NodeProcess process) : IAsyncDisposable
    {
        public ValueTask DisposeAsync()
        {
            process.Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
