using FastPort.Tags;
using Xunit;
using Stopwatch = System.Diagnostics.Stopwatch;

namespace FastPort.Tests.Support;

/// <summary>
/// An OPC UA server as a process, with 1,000 variables of type Int32 from i=1000, 800 Double from i=2000 and 200 String from i=2800.
/// </summary>
/// <param name="Url">Its address.</param>
/// <param name="NamespaceUri">Namespace of the variables.</param>
/// <param name="Process">Killed when it is disposed.</param>
internal sealed record RunningServer(string Url, string NamespaceUri, IAsyncDisposable Process) : IAsyncDisposable
{
    public ValueTask DisposeAsync() => Process.DisposeAsync();
}

/// <summary>What holds for the bridge in front of any OPC UA server: the tests of other stacks run the same.</summary>
internal static class BridgeScenarios
{
    private const int Numbers = 8;

    private static readonly string[] Names = [.. Enumerable.Range(0, Numbers).Select(static i => $"number{i}")];

    /// <summary>Unknown tags and wrong types have a status each, and the others of the request are read and written.</summary>
    public static async Task HasAStatusForEachTagAsync(Func<string?, Task<RunningServer>> start)
    {
        await using RunningServer server = await start(null);
        await using BridgeUnderTest bridge = await StartBridgeAsync(server);
        TagList tags = await bridge.Client.ResolveAsync(["nothing", "gone", "number0", "number1", "level", "text"]);
        Assert.Null(tags.Infos[0]);

        Assert.Equal(
            [
                TagStatus.BadNodeIdUnknown, TagStatus.BadNodeIdUnknown, TagStatus.BadTypeMismatch, TagStatus.BadTypeMismatch,
                TagStatus.Good, TagStatus.Good,
            ],
            await WriteAsync(bridge.Client, tags, 1, 1, "text", 1.5, 2.5, "new"));

        TagSamples samples = await bridge.Client.ReadAsync(tags);
        Assert.Equal(
            [
                TagStatus.BadNodeIdUnknown, TagStatus.BadNodeIdUnknown, TagStatus.Good, TagStatus.Good, TagStatus.Good, TagStatus.Good,
            ],
            Enumerable.Range(0, tags.Count).Select(samples.GetStatus));
        Assert.Equal([0, 1, 2.5, "new"], Enumerable.Range(2, 4).Select(samples.GetValue));

        await using TagWatch watch = await TagWatch.StartAsync(bridge.Client, [.. tags.Names]);
        Assert.Equal(
            [
                TagStatus.BadNodeIdUnknown, TagStatus.BadNodeIdUnknown, TagStatus.Good, TagStatus.Good, TagStatus.Good, TagStatus.Good,
            ],
            watch.Statuses);
        await watch.UntilAsync("number1", TagStatus.Good, 1);
        await watch.UntilAsync("text", TagStatus.Good, "new");
    }

    /// <summary>
    /// The server is killed while tags are read, written and watched, and started again: every request is answered, subscribers are told,
    /// and all goes on by itself.
    /// </summary>
    public static async Task GoesOnWhenTheServerIsKilledAsync(Func<string?, Task<RunningServer>> start, Action<string> report)
    {
        RunningServer server = await start(null);
        await using BridgeUnderTest bridge = await StartBridgeAsync(server);
        await using TagWatch watch = await TagWatch.StartAsync(bridge.Client, Names);
        await using var load = new TagLoad(bridge.Client, Names);
        for (int round = 0; round < 2; round++)
        {
            await load.UntilWrittenAsync(20);

            await server.DisposeAsync();
            await watch.UntilAsync(Names[^1], TagStatus.BadNoCommunication);
            await load.UntilReadAsync(TagStatus.BadNoCommunication);

            server = await start(server.Url);
            long since = Stopwatch.GetTimestamp();
            await load.UntilWrittenAsync(1);
            report($"written again {Stopwatch.GetElapsedTime(since).TotalMilliseconds:F0} ms after the server listened");
        }

        await using RunningServer last = server;
        await load.UntilWrittenAsync(20);
        await load.StopAsync();

        // BadTimeout: whether the write took effect is not known.
        Assert.Empty(load.ReadStatuses.Except([TagStatus.Good, TagStatus.BadNoCommunication]));
        Assert.Empty(load.WriteStatuses.Except([TagStatus.Good, TagStatus.BadNoCommunication, TagStatus.BadTimeout]));
        TagSamples samples = await bridge.Client.ReadAsync(await bridge.Client.ResolveAsync(Names));
        foreach ((int i, TagLoad.Writer writer) in load.Writers.Index())
        {
            int value = samples.GetValue(i).Get<int>();
            Assert.InRange(value, writer.Acknowledged[^1], writer.Attempts);
            await watch.UntilAsync(Names[i], TagStatus.Good, value);
        }
    }

    /// <summary>
    /// The server's connections stay and nothing is answered: requests say so within their time, subscribers are told, and all goes on when
    /// it answers again.
    /// </summary>
    public static async Task GoesOnWhenTheServerWasStuckAsync(Func<string?, Task<RunningServer>> start)
    {
        await using RunningServer server = await start(null);
        await using var relay = new FreezingRelay(server.Url);
        await using BridgeUnderTest bridge = await StartBridgeAsync(
            server with { Url = relay.Url }, ("Endpoints:plant:KeepAliveInterval", "00:00:04"));
        await using TagWatch watch = await TagWatch.StartAsync(bridge.Client, Names[0]);
        await watch.UntilAsync(Names[0], TagStatus.Good, 0);

        relay.Freeze();
        var brief = TimeSpan.FromMilliseconds(100);
        Assert.Equal(TagStatus.BadTimeout, (await bridge.Client.ReadAsync(Names[0], timeout: brief).InTimeAsync()).Status);
        Assert.Equal(TagStatus.BadTimeout, await bridge.Client.WriteAsync(Names[1], 5, timeout: brief).InTimeAsync());
        await watch.UntilAsync(Names[0], TagStatus.BadNoCommunication);
        Assert.False(bridge.Source.IsConnected);
        Assert.Equal(TagStatus.BadNoCommunication, (await bridge.Client.ReadAsync(Names[0]).InTimeAsync()).Status);

        relay.Thaw();
        await Patience.UntilAsync(() => bridge.Source.IsConnected, "the server is connected again");
        Assert.Equal(TagStatus.Good, await bridge.Client.WriteAsync(Names[0], 6).InTimeAsync());
        await watch.UntilAsync(Names[0], TagStatus.Good, 6);
    }

    private static Task<BridgeUnderTest> StartBridgeAsync(RunningServer server, params (string Key, string Value)[] more)
    {
        List<(string Key, string Value)> keys =
            [("Endpoints:plant:EndpointUrl", server.Url), ("Endpoints:plant:AllowWrite", "true"), .. more];
        (string Name, int Id)[] tags =
        [
            .. Names.Select(static (name, i) => (name, 1000 + i)), ("level", 2000), ("text", 2800), ("gone", 9999),
        ];
        foreach ((int i, (string name, int id)) in tags.Index())
        {
            keys.AddRange(
            [
                ($"Tags:{i}:Name", name), ($"Tags:{i}:Endpoint", "plant"), ($"Tags:{i}:NamespaceUri", server.NamespaceUri),
                ($"Tags:{i}:NodeId", $"i={id}"),
            ]);
        }

        return BridgeUnderTest.StartAsync(mustLoad: true, [.. keys]);
    }

    private static async Task<TagStatus[]> WriteAsync(TagClient client, TagList tags, params TagValue[] values)
    {
        var samples = new TagSamples();
        Array.ForEach(values, value => samples.Add(value));
        return await client.WriteAsync(tags, samples);
    }
}
