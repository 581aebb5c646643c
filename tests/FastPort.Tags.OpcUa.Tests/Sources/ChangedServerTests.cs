using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>A server that comes back with other nodes than before: clients are told, and nothing else is affected.</summary>
public sealed class ChangedServerTests : IAsyncLifetime
{
    private const string Speed = "plant/speed";
    private const string Level = "plant/level";

    private Bridged _bridged = null!;
    private Func<AddressSpace, NodeId, VariableNode?> _addSpeed = null!;
    private VariableNode? _speed;

    public async ValueTask InitializeAsync()
    {
        _addSpeed = static (space, root) => Add(space, root, 5);
        _bridged = await Bridged.StartAsync(
            Build,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));
    }

    public ValueTask DisposeAsync() => _bridged.DisposeAsync();

    [Fact]
    public async Task A_tag_that_disappears_is_told_and_comes_back_when_it_is_there_again()
    {
        await using TagWatch watch = await TagWatch.StartAsync(_bridged.Client, Speed, Level);
        await watch.UntilAsync(Speed, TagStatus.Good, 5);
        await watch.UntilAsync(Level, TagStatus.Good, 1.25);
        TagList tags = await _bridged.Client.ResolveAsync([Speed, Level]);

        await RestartAsync(static (_, _) => null);
        await watch.UntilAsync(Speed, TagStatus.BadNodeIdUnknown);
        await watch.UntilAsync(Level, TagStatus.Good, 1.25);
        TagSamples samples = await _bridged.Client.ReadAsync(tags);
        Assert.Equal((TagStatus.BadNodeIdUnknown, TagStatus.Good), (samples.GetStatus(0), samples.GetStatus(1)));
        Assert.Equal([TagStatus.BadNodeIdUnknown, TagStatus.Good], await WriteAsync(tags, 6, 2.5));

        // Whoever subscribes meanwhile is told, and gets the tag too when it is back: from a subscription that knew it, or from a new one.
        await using TagWatch second = await TagWatch.StartAsync(_bridged.Client, Speed, Level);
        await second.UntilAsync(Speed, TagStatus.BadNodeIdUnknown);
        await using TagWatch third = await TagWatch.StartAsync(_bridged.Client, TimeSpan.FromMilliseconds(20), Speed, Level);
        await third.UntilAsync(Level, TagStatus.Good, 2.5);
        Assert.Equal([TagStatus.BadNodeIdUnknown, TagStatus.Good], third.Statuses);

        await RestartAsync(static (space, root) => Add(space, root, 7));
        TagWatch[] all = [watch, second, third];
        await Task.WhenAll(all.Select(static one => one.UntilAsync(Speed, TagStatus.Good, 7)));
        _speed!.Value = new DataValue(8);
        await Task.WhenAll(all.Select(static one => one.UntilAsync(Speed, TagStatus.Good, 8)));
        Assert.Equal([TagStatus.Good, TagStatus.Good], await WriteAsync(tags, 9, 3.5));
        await watch.UntilAsync(Speed, TagStatus.Good, 9);
    }

    [Fact]
    public async Task A_type_that_changes_with_a_restart_is_that_of_samples_and_writes_from_then_on()
    {
        await using TagWatch watch = await TagWatch.StartAsync(_bridged.Client, Speed);
        await watch.UntilAsync(Speed, TagStatus.Good, 5);

        await RestartAsync(static (space, root) => Add(space, root, "fast"));
        await watch.UntilAsync(Speed, TagStatus.Good, "fast");

        Assert.Equal("fast", (await _bridged.Client.ReadAsync(Speed)).Value);
        Assert.Equal(TagStatus.BadTypeMismatch, await _bridged.Client.WriteAsync(Speed, 6));
        Assert.Equal(TagStatus.Good, await _bridged.Client.WriteAsync(Speed, "slow"));
        await watch.UntilAsync(Speed, TagStatus.Good, "slow");
        Assert.Equal(TagType.String, (await _bridged.Client.ResolveAsync([Speed])).Infos[0]!.Type);
    }

    [Fact]
    public async Task A_tag_that_has_another_node_after_a_restart_shows_that_nodes_values_only()
    {
        await using TagWatch watch = await TagWatch.StartAsync(_bridged.Client, Speed);
        await watch.UntilAsync(Speed, TagStatus.Good, 5);
        await using TagSubscription all = await _bridged.Client.SubscribeAsync(
            await _bridged.Client.ResolveAsync([Speed]), new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 100 });

        // What was the tag's node is another variable now. It takes time to list so many: the first values are reported before.
        VariableNode? other = null;
        await RestartAsync((space, root) =>
        {
            for (uint i = 0; i < 10_000; i++)
            {
                space.AddVariable(root, new NodeId(root.NamespaceIndex, 100 + i), new QualifiedName(root.NamespaceIndex, $"{i}"), 0);
            }

            other = space.AddVariable(
                root, new NodeId(root.NamespaceIndex, 10), new QualifiedName(root.NamespaceIndex, "other"), 66, writable: true);
            return space.AddVariable(
                root, new NodeId(root.NamespaceIndex, 12), new QualifiedName(root.NamespaceIndex, "speed"), 7, writable: true);
        });

        await watch.UntilAsync(Speed, TagStatus.Good, 7);
        Assert.Equal(7, (await _bridged.Client.ReadAsync(Speed)).Value);
        Assert.Equal(TagStatus.Good, await _bridged.Client.WriteAsync(Speed, 8));
        await watch.UntilAsync(Speed, TagStatus.Good, 8);
        List<TagValue> told = [];
        await foreach (TagChange change in all.WithCancellation(Patience.Token))
        {
            told.Add(change.Sample.Value);
            if (change.Sample.Value == 8)
            {
                break;
            }
        }

        Assert.Contains(7, told);
        Assert.DoesNotContain(66, told);
        Assert.Equal(66, other!.Value.Value.Get<int>());
        Assert.Equal(66, (await _bridged.Client.ReadAsync("plant/other")).Value);
        Assert.Empty(_bridged.Log.WithId(8110));
    }

    [Fact]
    public async Task Of_two_nodes_of_one_name_the_tag_stays_the_one_that_it_was_while_that_is_there()
    {
        await using TagWatch watch = await TagWatch.StartAsync(_bridged.Client, Speed);
        await watch.UntilAsync(Speed, TagStatus.Good, 5);

        // The other one is found first now.
        await RestartAsync(static (space, root) =>
        {
            AddSecond(space, root);
            return Add(space, root, 6);
        });
        await watch.UntilAsync(Speed, TagStatus.Good, 6);
        Assert.Equal(6, (await _bridged.Client.ReadAsync(Speed)).Value);
        Assert.Equal(6, (await _bridged.Client.ReadAsync($"{Speed}@i=10")).Value);
        Assert.Equal(66, (await _bridged.Client.ReadAsync($"{Speed}@i=12")).Value);
        Assert.EndsWith(": 'plant/speed'", Assert.Single(_bridged.Log.WithId(8110)).Text, StringComparison.Ordinal);

        await RestartAsync(AddSecond);
        await watch.UntilAsync(Speed, TagStatus.Good, 66);
        Assert.Single(_bridged.Log.WithId(8110));

        static VariableNode AddSecond(AddressSpace space, NodeId root) => space.AddVariable(
            root, new NodeId(root.NamespaceIndex, 12), new QualifiedName(root.NamespaceIndex, "speed"), 66);
    }

    [Fact]
    public async Task Tags_that_are_gone_take_no_place_of_new_ones_up_to_as_many_again()
    {
        string[] names = ["a", "b"];
        await using Bridged bridged = await Bridged.StartAsync(
            space =>
            {
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                var root = new NodeId(ns, 1);
                space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
                Array.ForEach(names, name => space.AddVariable(root, new NodeId(ns, name), new QualifiedName(ns, name), 5));
            },
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:MaxTags", "2"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));
        Assert.Equal(["plant/a", "plant/b"], bridged.Source.Known.Names);

        names = ["c", "d", "e"];
        await RestartAsync(bridged);
        Assert.Equal(["plant/a", "plant/b", "plant/c", "plant/d"], bridged.Source.Known.Names);
        Assert.Equal(5, (await bridged.Client.ReadAsync("plant/d")).Value);

        names = ["e", "a"];
        await RestartAsync(bridged);
        Assert.Equal(4, bridged.Source.Count);
        Assert.Equal(TagStatus.BadNodeIdUnknown, (await bridged.Client.ReadAsync("plant/d")).Status);
    }

    [Fact]
    public async Task Of_two_methods_of_one_name_it_stays_the_one_that_it_was_while_that_is_there()
    {
        await RestartAsync(static (space, root) => AddMachine(space, root, 20));
        Assert.Equal([20u], await _bridged.Client.CallAsync("plant/machine/which", []));
        Assert.Empty(_bridged.Log.WithId(8110));

        // The other one is found first now.
        await RestartAsync(static (space, root) =>
        {
            AddMachine(space, root, 30);
            return AddMachine(space, root, 20);
        });
        Assert.Equal([20u], await _bridged.Client.CallAsync("plant/machine/which", []));
        Assert.Equal([20u], await _bridged.Client.CallAsync("plant/machine@i=20/which", []));
        Assert.Equal([30u], await _bridged.Client.CallAsync("plant/machine@i=30/which", []));
        Assert.EndsWith(": 'plant/machine'", Assert.Single(_bridged.Log.WithId(8110)).Text, StringComparison.Ordinal);

        await RestartAsync(static (space, root) => AddMachine(space, root, 30));
        Assert.Equal([30u], await _bridged.Client.CallAsync("plant/machine/which", []));
        Assert.Single(_bridged.Log.WithId(8110));

        static VariableNode? AddMachine(AddressSpace space, NodeId root, uint id)
        {
            var machine = new NodeId(root.NamespaceIndex, id);
            space.AddObject(root, machine, new QualifiedName(root.NamespaceIndex, "machine"));
            space.AddMethod(
                machine,
                new NodeId(root.NamespaceIndex, id + 1),
                new QualifiedName(root.NamespaceIndex, "which"),
                [],
                [new("id", BuiltInType.UInt32)],
                (_, _) => new(MethodResult.Good(id)));
            return null;
        }
    }

    [Fact]
    public async Task A_value_whose_type_changes_while_the_server_runs_is_told_with_the_type_that_it_has()
    {
        Variant value = 5;
        await RestartAsync((space, root) => space.AddVariable<int>(
            root, new NodeId(root.NamespaceIndex, 10), new QualifiedName(root.NamespaceIndex, "speed"), () => new DataValue(value)));
        await using TagWatch watch = await TagWatch.StartAsync(_bridged.Client, Speed);
        await watch.UntilAsync(Speed, TagStatus.Good, 5);

        foreach (TagValue next in (TagValue[])["fast", 2.5, TagValue.FromArray([1, 2]), 6])
        {
            value = next.IsArray ? Variant.FromArray(next.GetArray<int>())
                : next.Type == TagType.Double ? next.Get<double>()
                : next.Type == TagType.Int32 ? next.Get<int>()
                : next.Get<string>();
            await watch.UntilAsync(Speed, TagStatus.Good, next);
            Assert.Equal(next, (await _bridged.Client.ReadAsync(Speed)).Value);
            Assert.Equal(next, (await _bridged.Client.ReadAsync(Speed, maxAge: TimeSpan.FromHours(1))).Value);
        }
    }

    /// <summary>
    /// A mistake in the configuration, or a node that the server does not have any more: whoever looks for values finds why.
    /// </summary>
    [Fact]
    public async Task Configured_tags_that_the_server_does_not_have_are_told_again_only_when_that_changes()
    {
        bool isThere = false;
        await using Bridged bridged = await Bridged.StartAsync(
            space =>
            {
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(ns, 1), new QualifiedName(ns, "good"), 5);
                if (isThere)
                {
                    space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(ns, 2), new QualifiedName(ns, "later"), 6);
                }
            },
            [("Endpoints:plant:EndpointUrl", "{url}"),
            .. Tag(0, "good", Bridged.NamespaceUri, "i=1"),
            .. Tag(1, "typo", "urn:fastprot:test", "i=1"),
            .. Tag(2, "later", Bridged.NamespaceUri, "i=2"),
            .. Tag(3, "folder", string.Empty, "i=85")]);

        string told = Assert.Single(bridged.Log.WithId(8109)).Text;
        Assert.StartsWith("Endpoint plant: 3 of its Tags have no values. 'typo' is ", told, StringComparison.Ordinal);
        Assert.Contains("urn:fastprot:test;i=1: no such namespace; 'later' is ", told, StringComparison.Ordinal);
        Assert.Contains("i=2: BadNodeIdUnknown; 'folder' is i=85: BadAttributeIdInvalid. ", told, StringComparison.Ordinal);
        Assert.EndsWith($", {Bridged.NamespaceUri}", told, StringComparison.Ordinal);
        int lists = bridged.Log.WithId(8100).Count;
        Assert.EndsWith(" serves 1 tags", bridged.Log.WithId(8100)[^1].Text, StringComparison.Ordinal);

        await RestartAsync(bridged);
        Assert.True(bridged.Log.WithId(8100).Count > lists, "the tags were not listed again");
        Assert.Single(bridged.Log.WithId(8109));

        isThere = true;
        await RestartAsync(bridged);
        Assert.Equal(6, (await bridged.Client.ReadAsync("later")).Value);
        Assert.EndsWith(" serves 2 tags", bridged.Log.WithId(8100)[^1].Text, StringComparison.Ordinal);
        Assert.StartsWith("Endpoint plant: 2 of its Tags", bridged.Log.WithId(8109)[^1].Text, StringComparison.Ordinal);

        static IEnumerable<(string Key, string Value)> Tag(int number, string name, string uri, string node) =>
        [
            ($"Tags:{number}:Name", name),
            ($"Tags:{number}:Endpoint", "plant"),
            ($"Tags:{number}:NamespaceUri", uri),
            ($"Tags:{number}:NodeId", node),
        ];
    }

    /// <summary>A machine that is switched on later: the server gets its namespace and its nodes while it runs.</summary>
    [Fact]
    public async Task Tags_whose_namespace_and_nodes_appear_while_the_server_runs_are_found_by_readers_and_subscribers()
    {
        const string Later = "urn:fastport:later";
        AddressSpace running = null!;
        await using Bridged bridged = await Bridged.StartAsync(
            space => running = space,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:Below:0", $"nsu={Later};i=1"),
            ("Tags:0:Name", "later"),
            ("Tags:0:Endpoint", "plant"),
            ("Tags:0:NamespaceUri", Later),
            ("Tags:0:NodeId", "i=2"));
        await using TagWatch watch = await TagWatch.StartAsync(bridged.Client, "later");
        Assert.Equal([TagStatus.BadNodeIdUnknown], watch.Statuses);
        Assert.Equal(TagStatus.BadNodeIdUnknown, (await bridged.Client.ReadAsync("later")).Status);

        ushort ns = running.AddNamespace(Later);
        VariableNode node = running.AddVariable(AddressSpace.ObjectsFolder, new NodeId(ns, 2), new QualifiedName(ns, "later"), 5);
        await watch.UntilAsync("later", TagStatus.Good, 5);
        Assert.Equal(5, (await bridged.Client.ReadAsync("later")).Value);

        running.AddObject(AddressSpace.ObjectsFolder, new NodeId(ns, 1), new QualifiedName(ns, "Machine"));
        running.AddVariable(new NodeId(ns, 1), new NodeId(ns, 3), new QualifiedName(ns, "speed"), 6);
        await Patience.UntilAsync(() => bridged.Source.Known.Find("plant/speed") is not null, "the folder is there");
        Assert.Equal(6, (await bridged.Client.ReadAsync("plant/speed")).Value);
        node.Value = new DataValue(7);
        await watch.UntilAsync("later", TagStatus.Good, 7);

        // It has no events, which is no trouble.
        LogLine told = Assert.Single(bridged.Log.WithId(8111));
        Assert.Equal(LogLevel.Debug, told.Level);
        Assert.StartsWith("Endpoint plant does not report new nodes: Bad", told.Text, StringComparison.Ordinal);
        Assert.DoesNotContain(bridged.Log.Lines, static line => line.Level > LogLevel.Information && line.Id is not 8105 and not 8109);
    }

    private Task RestartAsync(Func<AddressSpace, NodeId, VariableNode?> addSpeed)
    {
        _addSpeed = addSpeed;
        return RestartAsync(_bridged);
    }

    private static async Task RestartAsync(Bridged bridged)
    {
        await bridged.StopServerAsync();
        await Patience.UntilAsync(() => !bridged.Source.IsConnected, "the server's end was noticed");
        await bridged.StartServerAsync();

        // What a subscription reports comes as soon as it is made again; then the tags are listed, and requests go on.
        await Patience.UntilAsync(() => bridged.Source.IsConnected, "the tags are listed again");
    }

    private async Task<TagStatus[]> WriteAsync(TagList tags, params TagValue[] values)
    {
        var samples = new TagSamples();
        Array.ForEach(values, value => samples.Add(value));
        return await _bridged.Client.WriteAsync(tags, samples);
    }

    private static VariableNode Add<T>(AddressSpace space, NodeId root, T value) => space.AddVariable(
        root, new NodeId(root.NamespaceIndex, 10), new QualifiedName(root.NamespaceIndex, "speed"), value, writable: true);

    private void Build(AddressSpace space)
    {
        ushort ns = space.AddNamespace(Bridged.NamespaceUri);
        var root = new NodeId(ns, 1);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
        space.AddVariable(root, new NodeId(ns, 11), new QualifiedName(ns, "level"), 1.25, writable: true);
        _speed = _addSpeed(space, root);
    }
}
