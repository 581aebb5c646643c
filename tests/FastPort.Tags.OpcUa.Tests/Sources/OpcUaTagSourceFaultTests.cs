using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>An OPC UA server that is stuck or killed under load: nothing hangs, nothing that was acknowledged is lost.</summary>
public sealed class OpcUaTagSourceFaultTests
{
    private const int Tags = 50;

    [Fact]
    public async Task A_server_that_accepts_and_never_answers_is_no_communication_until_it_does()
    {
        FreezingRelay? relay = null;
        await using Bridged bridged = await Bridged.StartAsync(
            Build,
            url =>
            {
                relay = new FreezingRelay(url);
                relay.Freeze();
                return relay.Url;
            },
            mustLoad: false,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Tags:0:Name", "level"),
            ("Tags:0:Endpoint", "plant"),
            ("Tags:0:NamespaceUri", Bridged.NamespaceUri),
            ("Tags:0:NodeId", "i=10"));
        await using FreezingRelay frozen = relay!;
        await using TagWatch watch = await TagWatch.StartAsync(bridged.Client, "level");
        await watch.UntilAsync("level", TagStatus.BadNoCommunication);
        Assert.Equal(TagStatus.BadNoCommunication, (await bridged.Client.ReadAsync("level").InTimeAsync()).Status);
        Assert.Equal(TagStatus.BadNoCommunication, await bridged.Client.WriteAsync("level", 1).InTimeAsync());

        frozen.Thaw();

        await watch.UntilAsync("level", TagStatus.Good, 0);
        Assert.Equal(TagStatus.Good, await bridged.Client.WriteAsync("level", 1));
        await watch.UntilAsync("level", TagStatus.Good, 1);
    }

    [Fact]
    public async Task A_subscription_that_a_stuck_server_did_not_answer_is_made_when_it_does()
    {
        FreezingRelay? relay = null;

        // No keep-alive ends the connection: nothing but another attempt can bring the changes.
        await using Bridged bridged = await Bridged.StartAsync(
            Build,
            url => (relay = new FreezingRelay(url)).Url,
            mustLoad: true,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:RequestTimeout", "00:00:03"),
            ("Endpoints:plant:KeepAliveInterval", "00:00:00"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));
        await using FreezingRelay frozen = relay!;

        frozen.Freeze();
        await using TagWatch watch = await TagWatch.StartAsync(bridged.Client, "plant/0");
        Assert.Equal([TagStatus.BadTimeout], watch.Statuses);

        frozen.Thaw();

        await watch.UntilAsync("plant/0", TagStatus.Good, 0);
        Assert.Equal(TagStatus.Good, await bridged.Client.WriteAsync("plant/0", 1));
        await watch.UntilAsync("plant/0", TagStatus.Good, 1);
    }

    [Theory]
    [InlineData("plant/0", "plant/1")]
    [InlineData("plant/0", "row[1:2]")]
    public async Task A_read_whose_connection_is_lost_is_no_communication(params string[] names)
    {
        FreezingRelay? relay = null;
        await using Bridged bridged = await Bridged.StartAsync(
            static space =>
            {
                Build(space);
                space.AddArrayVariable(AddressSpace.ObjectsFolder, new NodeId(2, 2), new QualifiedName(2, "row"), [1, 2, 3]);
            },
            url => (relay = new FreezingRelay(url)).Url,
            mustLoad: true,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
            ("Tags:0:Name", "row"),
            ("Tags:0:Endpoint", "plant"),
            ("Tags:0:NamespaceUri", Bridged.NamespaceUri),
            ("Tags:0:NodeId", "i=2"));
        await using FreezingRelay frozen = relay!;
        var infos = new TagInfo?[names.Length];
        await bridged.Source.ResolveAsync(names, infos, CancellationToken.None);
        frozen.Freeze();

        ValueTask<TagStatus> read = bridged.Source.ReadAsync(
            Array.ConvertAll(infos, static info => info!.Tag), new TagSamples(), CancellationToken.None);
        await frozen.DisposeAsync();

        Assert.Equal(TagStatus.BadNoCommunication, await read.AsTask().InTimeAsync());
    }

    [Fact]
    public async Task Of_more_values_than_the_server_takes_at_a_time_those_that_were_written_are_told_although_later_ones_fail()
    {
        await using var server = new OpcUaPeer(
            static space =>
            {
                Build(space);
                space.AddVariableOfType(
                    AddressSpace.ObjectsFolder, new NodeId(2, 2), new QualifiedName(2, "stuck"), BuiltInType.Int32, -1,
                    static (_, _, token) => new ValueTask(Task.Delay(Timeout.Infinite, token)));
            },
            static options => options.MaxNodesPerWrite = 2);
        await server.StartAsync();
        await using BridgeUnderTest bridge = await BridgeUnderTest.StartAsync(
            mustLoad: true,
            ("Endpoints:plant:EndpointUrl", server.Url),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:RequestTimeout", "00:00:03"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
            ("Tags:0:Name", "stuck"),
            ("Tags:0:Endpoint", "plant"),
            ("Tags:0:NamespaceUri", Bridged.NamespaceUri),
            ("Tags:0:NodeId", "i=2"));
        TagList tags = await bridge.Client.ResolveAsync(["plant/0", "plant/1", "plant/2", "stuck"]);
        var values = new TagSamples();
        values.Add(1);
        values.Add("no number");
        values.Add(3);
        values.Add(4);

        Assert.Equal(
            [TagStatus.Good, TagStatus.BadTypeMismatch, TagStatus.BadTimeout, TagStatus.BadTimeout],
            await bridge.Client.WriteAsync(tags, values, timeout: BridgeUnderTest.Soon).InTimeAsync());
    }

    [Fact]
    public async Task A_value_larger_than_the_server_takes_concerns_no_other_and_many_that_are_together_go_in_several_requests()
    {
        VariableNode[] texts = new VariableNode[6];
        await using var server = new OpcUaPeer(
            space =>
            {
                Build(space);
                for (int i = 0; i < texts.Length; i++)
                {
                    texts[i] = space.AddVariable(
                        AddressSpace.ObjectsFolder, new NodeId(2, $"text {i}"), new QualifiedName(2, $"text {i}"), "", writable: true);
                }
            },
            static options => options.MaxMessageBytes = 64 * 1024);
        await server.StartAsync();
        await using BridgeUnderTest bridge = await BridgeUnderTest.StartAsync(
            mustLoad: true,
            [
                ("Endpoints:plant:EndpointUrl", server.Url),
                ("Endpoints:plant:AllowWrite", "true"),
                ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
                .. texts.SelectMany((_, i) => ((string, string)[])
                    [
                        ($"Tags:{i}:Name", $"{i}"), ($"Tags:{i}:Endpoint", "plant"),
                        ($"Tags:{i}:NamespaceUri", Bridged.NamespaceUri), ($"Tags:{i}:NodeId", $"s=text {i}"),
                    ]),
            ]);
        TagList tags = await bridge.Client.ResolveAsync(["0", "1", "2", "3", "4", "5"]);
        var values = new TagSamples();
        int[] lengths = [30_000, 30_000, 70_000, 30_000, 0, 60_000];
        Array.ForEach(lengths, length => values.Add(new string('x', length)));

        Assert.Equal(
            [
                TagStatus.Good, TagStatus.Good, new TagStatus(StatusCodes.BadEncodingLimitsExceeded.Value), TagStatus.Good, TagStatus.Good,
                TagStatus.Good,
            ],
            await bridge.Client.WriteAsync(tags, values).InTimeAsync());
        Assert.Equal([30_000, 30_000, 0, 30_000, 0, 60_000], texts.Select(static text => text.Value.Value.Get<string>().Length));
    }

    [Fact]
    public async Task Writes_that_were_acknowledged_are_there_although_the_server_is_restarted_again_and_again()
    {
        // What is written outlives the server, as in a device.
        var device = new VariableNode?[Tags];
        await using Bridged bridged = await Bridged.StartAsync(
            space => BuildDevice(space, device),
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));
        using var stop = new CancellationTokenSource();
        Task<int[]>[] writers = [.. Enumerable.Range(0, 4).Select(writer => WriteAsync(bridged.Client, writer, stop.Token))];

        for (int i = 0; i < 3; i++)
        {
            await bridged.StopServerAsync();
            await bridged.StartServerAsync();
            await UntilGoodAsync(bridged.Client, "plant/0");
        }

        await stop.CancelAsync();
        foreach ((int writer, Task<int[]> writing) in writers.Index())
        {
            int[] acknowledged = await writing.InTimeAsync();
            for (int tag = writer; tag < Tags; tag += writers.Length)
            {
                Assert.InRange(device[tag]!.Value.Value.Get<int>(), acknowledged[tag], int.MaxValue);
            }
        }
    }

    [Fact]
    public async Task Writes_reach_no_other_node_although_namespaces_have_other_indexes_after_each_restart()
    {
        bool isShifted = false;
        List<VariableNode> others = [];
        await using Bridged bridged = await Bridged.StartAsync(
            space =>
            {
                if (isShifted)
                {
                    // The ids of the tags, at the index that the tags had.
                    ushort ns = space.AddNamespace("urn:fastport:others");
                    others.AddRange(Enumerable.Range(0, Tags).Select(i => space.AddVariable(
                        AddressSpace.ObjectsFolder, new NodeId(ns, 10 + (uint)i), new QualifiedName(ns, $"{i}"), 0, writable: true)));
                }

                Build(space);
            },
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));
        using var stop = new CancellationTokenSource();
        Task<int[]>[] writers = [.. Enumerable.Range(0, 4).Select(writer => WriteAsync(bridged.Client, writer, stop.Token))];

        for (int i = 0; i < 3; i++)
        {
            isShifted = !isShifted;
            await bridged.StopServerAsync();
            await bridged.StartServerAsync();
            await UntilGoodAsync(bridged.Client, "plant/0");
        }

        await stop.CancelAsync();
        await Task.WhenAll(writers).InTimeAsync();
        Assert.Equal(2 * Tags, others.Count);
        Assert.All(others, static node => Assert.Equal(0, node.Value.Value.Get<int>()));
    }

    // Writes growing numbers to every fourth tag. Returns the last one that was acknowledged, of each.
    private static async Task<int[]> WriteAsync(TagClient client, int first, CancellationToken stop)
    {
        var acknowledged = new int[Tags];
        for (int number = 1; !stop.IsCancellationRequested; number++)
        {
            for (int tag = first; tag < Tags; tag += 4)
            {
                if (await client.WriteAsync($"plant/{tag}", number, cancellationToken: CancellationToken.None) == TagStatus.Good)
                {
                    acknowledged[tag] = number;
                }
            }
        }

        return acknowledged;
    }

    private static async Task UntilGoodAsync(TagClient client, string tag)
    {
        CancellationToken token = Patience.Token;
        while (!(await client.ReadAsync(tag, timeout: TimeSpan.FromMilliseconds(500), cancellationToken: token)).Status.IsGood)
        {
            Assert.False(token.IsCancellationRequested);
        }
    }

    private static void Build(AddressSpace space)
    {
        (ushort ns, NodeId root) = AddRoot(space);
        for (uint i = 0; i < Tags; i++)
        {
            space.AddVariable(root, new NodeId(ns, 10 + i), new QualifiedName(ns, $"{i}"), 0, writable: true);
        }
    }

    private static void BuildDevice(AddressSpace space, VariableNode?[] device)
    {
        (ushort ns, NodeId root) = AddRoot(space);
        for (int i = 0; i < Tags; i++)
        {
            int value = device[i]?.Value.Value.Get<int>() ?? 0;
            device[i] = space.AddVariable(root, new NodeId(ns, 10 + (uint)i), new QualifiedName(ns, $"{i}"), value, writable: true);
        }
    }

    private static (ushort Namespace, NodeId Root) AddRoot(AddressSpace space)
    {
        ushort ns = space.AddNamespace(Bridged.NamespaceUri);
        var root = new NodeId(ns, 1);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
        return (ns, root);
    }
}
