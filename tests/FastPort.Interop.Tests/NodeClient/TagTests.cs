using System.Text.Json;
using FastPort.Interop.Tests.Peers;
using FastPort.Tags;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>
/// A client on Node that has tags.proto and nothing else of ours: resolves, reads, writes, subscribes, browses and calls.
/// </summary>
public sealed class TagTests
{
    [NodeFact]
    public async Task All_messages_of_tags_are_understood_from_the_proto_file()
    {
        await using var memory = new MemoryTagSource();
        memory.Add("plant/speed", 1500.5, isWritable: true);
        memory.Add("plant/state", "läuft", isWritable: true);
        memory.Add("plant/limits", TagValue.FromArray([1, 2, 3]), isWritable: true);
        memory.Add("plant/count", 7L);
        memory.AddMethod("plant/add", static inputs => [inputs[0].Get<int>() + inputs[1].Get<int>()]);
        await using var server = new TagServer([memory]);
        await using NodeScenario node = await NodeScenario.StartAsync(
            static options => options.Session.MaxConcurrency = 8, handlers => handlers.MapTags(server));

        Seen seen = await node.PlayAsync<Seen>("tags");

        uint unknown = TagStatus.BadNodeIdUnknown.Code;
        Assert.Equal([0, 0, 0, 0, unknown], seen.Statuses);
        Assert.Equal([11, 12, 6, 8, 0], seen.Types);
        Assert.Equal(["1500.5", "läuft", "[1,2,3]", "7"], seen.Read.Select(static row => $"{row.Value}"));
        Assert.Equal([11, 12, 6, 8], seen.Read.Select(static row => row.Type));
        Assert.All(seen.Read, static row => Assert.Equal((0u, true), (row.Status, row.HasTime)));
        Assert.Empty(seen.Written);
        Assert.Equal([TagStatus.BadTypeMismatch.Code], seen.Refused);
        Assert.Equal(["2.5", "grün!", "[-7,8]", "7"], seen.Again.Select(static row => $"{row.Value}"));
        Assert.Equal(Enumerable.Range(1, seen.Numbers.Length), seen.Numbers);
        Assert.Equal(["plant/speed", "plant/state", "plant/limits", "plant/count", "plant/add"], seen.Nodes);
        Assert.Equal(5, seen.Sum);
        Assert.Equal(9.5, (await ReadAsync(memory, "plant/speed")).Get<double>());
    }

    private static async Task<TagValue> ReadAsync(MemoryTagSource memory, string name)
    {
        var infos = new TagInfo?[1];
        await memory.ResolveAsync([name], infos, CancellationToken.None);
        var samples = new TagSamples();
        await memory.ReadAsync([infos[0]!.Tag], samples, CancellationToken.None);
        return samples.GetValue(0);
    }

    private sealed record Row(int Type, JsonElement Value, uint Status, bool HasTime);

    private sealed record Seen(
        uint[] Statuses, int[] Types, Row[] Read, uint[] Written, uint[] Refused, Row[] Again, int[] Numbers, string[] Nodes, int Sum);
}
