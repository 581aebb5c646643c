using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>Tags of an OPC UA server through the bridge: a client that speaks FastPort only.</summary>
public sealed class OpcUaTagSourceTests : IAsyncLifetime
{
    // A Duration, which is derived from Double (OPC 10000-5, 7.7).
    private const uint MinSupportedSampleRate = 2272;

    private Bridged _bridged = null!;
    private VariableNode _count = null!;
    private bool _isShifted;

    public async ValueTask InitializeAsync() => _bridged = await Bridged.StartAsync(
        Build,
        ("Endpoints:plant:EndpointUrl", "{url}"),
        ("Endpoints:plant:AllowWrite", "true"),
        ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
        ("Groups:fast:PublishingInterval", "00:00:00.050"),
        ("Tags:0:Name", "level"),
        ("Tags:0:Endpoint", "plant"),
        ("Tags:0:NamespaceUri", Bridged.NamespaceUri),
        ("Tags:0:NodeId", "i=11"),
        ("Tags:0:Group", "fast"),
        ("Tags:1:Name", "gone"),
        ("Tags:1:Endpoint", "plant"),
        ("Tags:1:NamespaceUri", Bridged.NamespaceUri),
        ("Tags:1:NodeId", "i=99"));

    public ValueTask DisposeAsync() => _bridged.DisposeAsync();

    [Fact]
    public async Task All_variables_below_a_node_are_tags_with_names_of_their_paths()
    {
        TagBrowseNode[] nodes = await _bridged.Client.BrowseAsync("plant").ToArrayAsync();
        TagList tags = await _bridged.Client.ResolveAsync(["plant/pump/speed", "plant/count", "level", "plant/nothing"]);

        Assert.Contains(new TagBrowseNode("plant/pump", "pump", TagBrowseKind.Folder, true), nodes);
        Assert.Contains(new TagBrowseNode("plant/add", "add", TagBrowseKind.Method, false), nodes);
        Assert.Equal((TagType.Double, -1, true), (tags.Infos[0]!.Type, tags.Infos[0]!.Rank, tags.Infos[0]!.IsWritable));
        Assert.False(tags.Infos[1]!.IsWritable);
        Assert.Equal(TagType.Double, tags.Infos[2]!.Type);
        Assert.Null(tags.Infos[3]);
    }

    /// <summary>Who writes text, as the CLI does, takes the type of the value for a tag without one.</summary>
    [Fact]
    public async Task A_variable_of_any_type_is_a_tag_without_a_type_that_takes_values_of_all()
    {
        List<Variant> written = [];
        await using Bridged bridged = await Bridged.StartAsync(
            space =>
            {
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                var root = new NodeId(ns, 1);
                space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
                space.AddVariableOfType(
                    root, new NodeId(ns, 2), new QualifiedName(ns, "any"), BuiltInType.Variant, -1, (writes, _, _) =>
                    {
                        written.Add(writes.Span[0].Value.Value);
                        return ValueTask.CompletedTask;
                    });
            },
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));

        Assert.Equal(TagType.Null, (await bridged.Client.ResolveAsync(["plant/any"])).Infos[0]!.Type);
        Assert.Equal(TagStatus.Good, await bridged.Client.WriteAsync("plant/any", 7));
        Assert.Equal(TagStatus.Good, await bridged.Client.WriteAsync("plant/any", "seven"));
        Assert.Equal((Variant[])[7, "seven"], written);
    }

    [Fact]
    public async Task Tags_have_the_units_and_ranges_of_the_servers_variables()
    {
        TagList tags = await _bridged.Client.ResolveAsync(["plant/pump/temperature", "level", "plant/pump/speed"]);

        Assert.Equal(("°C", (-10.0, 90.0)), (tags.Infos[0]!.Unit, tags.Infos[0]!.Range));
        Assert.Equal((string.Empty, (0.0, 5.0)), (tags.Infos[1]!.Unit, tags.Infos[1]!.Range));
        Assert.Equal((string.Empty, null), (tags.Infos[2]!.Unit, tags.Infos[2]!.Range));
    }

    /// <summary>Its DataType is BaseDataType: no value is of that type itself.</summary>
    [Fact]
    public async Task A_tag_of_any_type_has_that_of_its_value()
    {
        Assert.Equal((TagType.Null, true), (await _bridged.Client.ResolveAsync(["plant/any"])).Infos[0] is { } info
            ? (info.Type, info.IsWritable)
            : default);

        foreach (TagValue value in (TagValue[])[5, 2.5, "text"])
        {
            Assert.Equal(TagStatus.Good, await _bridged.Client.WriteAsync("plant/any", value));
            Assert.Equal(value, (await _bridged.Client.ReadAsync("plant/any")).Value);
        }
    }

    [Fact]
    public async Task Values_of_every_type_are_read_and_written_back()
    {
        (string Name, TagValue Value)[] values =
        [
            ("bool", true), ("sbyte", TagValue.From((sbyte)-8)), ("byte", TagValue.From((byte)200)), ("int16", TagValue.From((short)-16)),
            ("uint16", TagValue.From((ushort)16)), ("int32", -32), ("uint32", 32u), ("int64", -64L), ("uint64", TagValue.From(64UL)),
            ("float", 1.5f), ("double", 2.5), ("string", "text"), ("time", new DateTime(2026, 11, 24, 12, 0, 0, DateTimeKind.Utc)),
            ("bytes", TagValue.From(new byte[] { 1, 2, 3 })), ("ints", TagValue.FromArray([1, 2, 3])),
            ("texts", TagValue.FromArray(["a", "b"])),
        ];
        foreach ((string name, TagValue value) in values)
        {
            TagSample sample = await _bridged.Client.ReadAsync($"plant/types/{name}");
            Assert.Equal(value, sample.Value);
            Assert.Equal(TagStatus.Good, sample.Status);
            Assert.NotEqual(default, sample.ServerTime);
            Assert.Equal(TagStatus.Good, await _bridged.Client.WriteAsync($"plant/types/{name}", value));
            Assert.Equal(value, (await _bridged.Client.ReadAsync($"plant/types/{name}")).Value);
        }

        foreach (string name in (string[])["guid", "node", "label", "name", "nodes"])
        {
            TagSample sample = await _bridged.Client.ReadAsync($"plant/types/{name}");
            Assert.Equal(TagStatus.Good, await _bridged.Client.WriteAsync($"plant/types/{name}", sample.Value));
            Assert.Equal(sample.Value, (await _bridged.Client.ReadAsync($"plant/types/{name}")).Value);
            Assert.False(sample.Value.IsNull);
        }
    }

    [Fact]
    public async Task What_the_server_refuses_is_told_per_tag()
    {
        Assert.Equal(TagStatus.BadTypeMismatch, await _bridged.Client.WriteAsync("plant/pump/speed", "fast"));
        Assert.Equal(TagStatus.BadTypeMismatch, await _bridged.Client.WriteAsync("plant/pump/speed", TagValue.FromArray([1.5])));
        Assert.Equal(TagStatus.BadNotWritable, await _bridged.Client.WriteAsync("plant/count", 1));
        Assert.Equal(TagStatus.BadNodeIdUnknown, (await _bridged.Client.ReadAsync("gone")).Status);
        Assert.Equal(TagStatus.Good, (await _bridged.Client.ReadAsync("level")).Status);
    }

    [Fact]
    public async Task A_method_is_called() => Assert.Equal([5], await _bridged.Client.CallAsync("plant/add", [2, 3]));

    [Fact]
    public async Task Changes_come_with_the_values_of_the_server()
    {
        TagList tags = await _bridged.Client.ResolveAsync(["plant/count"]);
        await using TagSubscription subscription = await _bridged.Client.SubscribeAsync(
            tags, new() { Interval = TimeSpan.FromMilliseconds(50) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal(7, await NextAsync(changes));

        _count.Value = new DataValue(8);

        Assert.Equal(8, await NextAsync(changes));
    }

    [Fact]
    public async Task A_group_answers_reads_while_the_server_is_away_with_what_was_known_last()
    {
        TagList tags = await _bridged.Client.ResolveAsync(["level"]);
        await using (TagSubscription subscription = await _bridged.Client.SubscribeAsync(tags))
        {
            await subscription.FirstAsync(static change => change.Sample.Status.IsGood, TestContext.Current.CancellationToken);
        }

        await _bridged.StopServerAsync();
        await Patience.UntilAsync(() => !_bridged.Source.IsConnected, "the loss is noticed");
        TagSample sample = (await _bridged.Client.ReadAsync(tags, maxAge: TimeSpan.FromHours(1)))[0];

        Assert.Equal((1.25, TagStatus.BadNoCommunication), (sample.Value.Get<double>(), sample.Status));
    }

    [Fact]
    public async Task A_server_that_restarts_is_told_and_everything_goes_on()
    {
        TagList tags = await _bridged.Client.ResolveAsync(["plant/count"]);
        await using TagSubscription subscription = await _bridged.Client.SubscribeAsync(
            tags, new() { Interval = TimeSpan.FromMilliseconds(50) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal(7, await NextAsync(changes));

        await _bridged.StopServerAsync();
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal((7, TagStatus.BadNoCommunication), (changes.Current.Sample.Value.Get<int>(), changes.Current.Sample.Status));
        Assert.Equal(TagStatus.BadNoCommunication, (await _bridged.Client.ReadAsync("plant/count")).Status);
        Assert.Equal(TagStatus.BadNoCommunication, await _bridged.Client.WriteAsync("plant/pump/speed", 1.0));

        // Another namespace before it: the indexes of the node ids differ.
        _isShifted = true;
        await _bridged.StartServerAsync();

        Assert.Equal(7, await NextAsync(changes));
        _count.Value = new DataValue(9);
        Assert.Equal(9, await NextAsync(changes));
        Assert.Equal(9, (await _bridged.Client.ReadAsync("plant/count")).Value);
    }

    [Fact]
    public async Task A_tag_that_its_server_looks_at_rarely_is_read_where_a_younger_value_is_asked_for()
    {
        await using Bridged bridged = await Bridged.StartAsync(
            Build,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
            ("Endpoints:plant:Group", "rare"),
            ("Groups:rare:PublishingInterval", "00:00:00.020"),
            ("Groups:rare:SamplingInterval", "00:30:00"));
        TagList tags = await bridged.Client.ResolveAsync(["plant/count", "plant/pump/speed"]);
        await using TagWatch watch = await TagWatch.StartAsync(bridged.Client, TimeSpan.FromMilliseconds(20), tags.Names[0]);
        await watch.UntilAsync("plant/count", TagStatus.Good, 7);
        TimeSpan maxAge = TimeSpan.FromSeconds(1);

        // Messages without changes come all the time.
        _count.Value = new DataValue(8);
        await Patience.UntilAsync(
            async () => (await bridged.Client.ReadAsync("plant/count", maxAge)).Value == 8, "the value is read from the server");

        _count.Value = new DataValue(9);
        Assert.Equal(8, (await bridged.Client.ReadAsync("plant/count", maxAge: TimeSpan.FromHours(1))).Value);
    }

    [Theory]
    [InlineData("0.5")]
    [InlineData("5%")]
    public async Task A_group_with_a_deadband_reports_what_is_no_number_and_has_no_range_without_one(string deadband)
    {
        await using Bridged bridged = await Bridged.StartAsync(
            Build,
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:AllowWrite", "true"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
            ("Endpoints:plant:Group", "quiet"),
            ("Groups:quiet:PublishingInterval", "00:00:00.050"),
            ("Groups:quiet:Deadband", deadband),
            ("Tags:0:Name", "duration"),
            ("Tags:0:Endpoint", "plant"),
            ("Tags:0:NodeId", $"i={MinSupportedSampleRate}"),
            ("Tags:0:Group", "quiet"));
        string[] names = [.. bridged.Source.Known.Names];
        TagList tags = await bridged.Client.ResolveAsync(names);
        await using TagSubscription subscription = await bridged.Client.SubscribeAsync(tags);

        Assert.All(subscription.Statuses, static status => Assert.Equal(TagStatus.Good, status));
        Assert.True(names.Length > 20);
        string[] numbers = ["sbyte", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double", "ints"];
        HashSet<string> expected = ["plant/pump/temperature"];
        if (!deadband.EndsWith('%'))
        {
            expected.UnionWith(["duration", "plant/count", "plant/pump/speed", .. numbers.Select(static name => $"plant/types/{name}")]);
        }

        Assert.Equal(expected, names.Where(name => !bridged.Source.Known.Find(name)!.Info.ReportsAllChanges).ToHashSet());
    }

    private static async Task<int> NextAsync(IAsyncEnumerator<TagChange> changes)
    {
        do
        {
            Assert.True(await changes.MoveNextAsync());
        }
        while (!changes.Current.Sample.Status.IsGood);

        return changes.Current.Sample.Value.Get<int>();
    }

    private void Build(AddressSpace space)
    {
        if (_isShifted)
        {
            space.AddNamespace("urn:another");
        }

        ushort ns = space.AddNamespace(Bridged.NamespaceUri);
        var root = new NodeId(ns, 1);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
        space.AddFolder(root, new NodeId(ns, 2), new QualifiedName(ns, "pump"));
        space.AddVariable(new NodeId(ns, 2), new NodeId(ns, 10), new QualifiedName(ns, "speed"), 1500.5, writable: true);
        space.AddAnalogVariable(new NodeId(ns, 2), new NodeId(ns, 14), new QualifiedName(ns, "temperature"), 20f, -10, 90, unit: "°C");
        space.AddAnalogVariable(
            AddressSpace.ObjectsFolder, new NodeId(ns, 11), new QualifiedName(ns, "Level"), 1.25, low: 0, high: 5, writable: true);
        _count = space.AddVariable(root, new NodeId(ns, 12), new QualifiedName(ns, "count"), 7);
        VariableNode any = space.AddVariableOfType(
            root, new NodeId(ns, 15), new QualifiedName(ns, "any"), BuiltInType.Variant, valueRank: -1, Keep);
        any.Value = new DataValue(1);
        space.AddMethod(
            root,
            new NodeId(ns, 13),
            new QualifiedName(ns, "add"),
            [new("a", BuiltInType.Int32), new("b", BuiltInType.Int32)],
            [new("sum", BuiltInType.Int32)],
            static (inputs, _) => new(MethodResult.Good(inputs.Span[0].Get<int>() + inputs.Span[1].Get<int>())));
        space.AddFolder(root, new NodeId(ns, 3), new QualifiedName(ns, "types"));
        uint id = 100;
        Add("bool", true);
        Add("sbyte", (sbyte)-8);
        Add("byte", (byte)200);
        Add("int16", (short)-16);
        Add("uint16", (ushort)16);
        Add("int32", -32);
        Add("uint32", 32u);
        Add("int64", -64L);
        Add("uint64", 64UL);
        Add("float", 1.5f);
        Add("double", 2.5);
        Add("string", "text");
        Add("time", new DateTime(2026, 11, 24, 12, 0, 0, DateTimeKind.Utc));
        Add("bytes", new ByteString([1, 2, 3]));
        Add("guid", Guid.Parse("11111111-2222-3333-4444-555555555555"));
        Add("node", new NodeId(ns, "text"));
        Add("label", new LocalizedText("en", "label"));
        Add("name", new QualifiedName(ns, "name"));
        AddArray("ints", [1, 2, 3]);
        AddArray("texts", ["a", "b"]);
        AddArray("nodes", [new NodeId(ns, 1u), new NodeId(ns, "two")]);

        static ValueTask Keep(ReadOnlyMemory<VariableWrite> writes, Memory<StatusCode> statuses, CancellationToken cancellationToken)
        {
            foreach (VariableWrite write in writes.Span)
            {
                write.Variable.Value = write.Value;
            }

            return ValueTask.CompletedTask;
        }

        void Add<T>(string name, T value) =>
            space.AddVariable(new NodeId(ns, 3), new NodeId(ns, id++), new QualifiedName(ns, name), value, writable: true);

        void AddArray<T>(string name, T[] value) =>
            space.AddArrayVariable(new NodeId(ns, 3), new NodeId(ns, id++), new QualifiedName(ns, name), value, writable: true);
    }
}
