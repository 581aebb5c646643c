using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Namespace 0 as clients read it.</summary>
public sealed class StandardNodesTests
{
    // The largest number of a node that this library has, and some more.
    private const uint Numbers = 40_000;

    private static readonly AttributeId[] OfAll =
        [AttributeId.NodeId, AttributeId.NodeClass, AttributeId.BrowseName, AttributeId.DisplayName];

    [Fact]
    public async Task All_nodes_are_reached_from_the_root_and_have_all_mandatory_attributes()
    {
        await using TestServer server = await TestServer.StartAsync(Fill);
        await using OpcUaClient client = await server.ConnectAsync();
        AddressSpace space = server.Server.AddressSpace;
        Dictionary<NodeId, NodeClass> reached = await WalkAsync(client);

        // Encodings are reached by references that are not hierarchical.
        Node[] all = [.. Enumerable.Range(0, (int)Numbers).Select(i => space.Find(new NodeId(0, (uint)i))).OfType<Node>()];
        Assert.All(all.Where(static n => n.BrowseName.Name != "Default Binary"), node => Assert.Contains(node.Id, reached));
        foreach (Node node in all)
        {
            reached[node.Id] = node.NodeClass;
        }

        foreach (IGrouping<NodeClass, NodeId> nodes in reached.GroupBy(static n => n.Value, static n => n.Key))
        {
            foreach (AttributeId attribute in (AttributeId[])[.. OfAll, .. Mandatory(nodes.Key)])
            {
                DataValue[] values = await client.ReadAsync([.. nodes], attribute);
                Assert.All(nodes.Zip(values), pair => Assert.True(
                    pair.Second.Status.IsGood && !pair.Second.Value.IsNull, $"{pair.First} {attribute}: {pair.Second}"));
            }
        }
    }

    [Fact]
    public async Task Values_have_the_data_type_and_rank_that_the_variable_says()
    {
        await using TestServer server = await TestServer.StartAsync(Fill);
        await using OpcUaClient client = await server.ConnectAsync();
        AddressSpace space = server.Server.AddressSpace;
        NodeId[] variables = [.. (await WalkAsync(client)).Where(static n => n.Value == NodeClass.Variable).Select(static n => n.Key)];

        DataValue[] values = await client.ReadAsync(variables);
        DataValue[] types = await client.ReadAsync(variables, AttributeId.DataType);
        DataValue[] ranks = await client.ReadAsync(variables, AttributeId.ValueRank);

        for (int i = 0; i < variables.Length; i++)
        {
            BuiltInType type = values[i].Value.Type;
            NodeId expected = types[i].Value.Get<NodeId>();
            Assert.True(
                space.IsOfType(expected, new NodeId(0, (uint)type), includeSubtypes: true)
                    || (type == BuiltInType.Int32 && space.IsOfType(expected, new NodeId(0, NodeIds.Enumeration), includeSubtypes: true)),
                $"{variables[i]} has {type}, not {expected}");
            Assert.Equal(ranks[i].Value.Get<int>() >= 0, values[i].Value.IsArray);
        }
    }

    [Fact]
    public async Task Every_object_and_variable_has_a_type_of_its_class()
    {
        await using TestServer server = await TestServer.StartAsync(Fill);
        AddressSpace space = server.Server.AddressSpace;
        for (uint i = 0; i < Numbers; i++)
        {
            if (space.Find(new NodeId(0, i)) is { NodeClass: NodeClass.Object or NodeClass.Variable } node)
            {
                NodeClass wanted = node.NodeClass == NodeClass.Object ? NodeClass.ObjectType : NodeClass.VariableType;
                Assert.Equal(wanted, space.Find(node.TypeDefinition)?.NodeClass);
            }
        }
    }

    [Fact]
    public async Task The_status_is_a_structure_that_agrees_with_its_components()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.ApplicationName = "boiler");
        await using OpcUaClient client = await server.ConnectAsync();

        uint[] numbers = [2256, 2257, 2258, 2259, 2260, 2261, 2992];
        DataValue[] values = await client.ReadAsync([.. numbers.Select(static i => new NodeId(0, i))]);

        ExtensionObject encoded = values[0].Value.Get<ExtensionObject>();
        Assert.Equal(new NodeId(0, 864), encoded.TypeId.NodeId);
        var decoder = new BinaryDecoder(encoded.Body.Span, EncodingLimits.Default);
        ServerStatusDataType status = decoder.ReadStructure<ServerStatusDataType>();
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
        Assert.Equal(values[1].Value.Get<DateTime>(), status.StartTime);
        Assert.InRange(values[2].Value.Get<DateTime>(), status.CurrentTime, status.CurrentTime.AddSeconds(10));
        Assert.Equal((ServerState.Running, 0), (status.State, values[3].Value.Get<int>()));
        Assert.Equal(new NodeId(0, 340), values[4].Value.Get<ExtensionObject>().TypeId.NodeId);
        Assert.Equal(("boiler", "boiler"), (status.BuildInfo.ProductName, values[5].Value.Get<string>()));
        Assert.Equal((0u, 0u), (status.SecondsTillShutdown, values[6].Value.Get<uint>()));
    }

    [Fact]
    public async Task The_limits_are_those_of_the_options()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o =>
        {
            (o.MaxNodesPerRead, o.MaxNodesPerWrite, o.MaxNodesPerBrowse, o.MaxMethodsPerCall) = (31, 32, 33, 34);
            (o.MaxBrowseContinuationPoints, o.MaxSessions, o.MaxMessageBytes) = (35, 36, 100_000);
        });
        await using OpcUaClient client = await server.ConnectAsync();
        uint[] numbers = [11705, 11707, 11709, 11710, 11711, 11712, 24095, 11702, 11703, 12911];

        DataValue[] values = await client.ReadAsync([.. numbers.Select(static i => new NodeId(0, i)), new NodeId(0, 2735)]);

        Assert.Equal([31u, 32, 34, 33, 33, 33, 36, 100_000, 100_000, 100_000], values[..^1].Select(static v => v.Value.Get<uint>()));
        Assert.Equal(35, values[^1].Value.Get<ushort>());
    }

    [Fact]
    public async Task There_are_no_software_certificates()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue value = Assert.Single(await client.ReadAsync([new NodeId(0, 3704)]));
        DataValue type = Assert.Single(await client.ReadAsync([new NodeId(0, 3704)], AttributeId.DataType));

        Assert.Empty(value.Value.GetArray<ExtensionObject>()!);
        Assert.Equal(new NodeId(0, 344), type.Value);
    }

    [Fact]
    public async Task An_analog_variable_has_its_range()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            Assert.Equal((-10, 90), space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 5), "t", 20.5f, -10, 90).EuRange);
            Assert.Throws<NotSupportedException>(
                () => space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 6), "b", true, 0, 1));
            Assert.Throws<NotSupportedException>(
                () => space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 6), "s", "x", 0, 1));
            Assert.Throws<ArgumentException>(
                () => space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 6), "d", 1.0, 1, 1));
            Assert.Throws<ArgumentException>(
                () => space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 6), "d", 1.0, 0, double.PositiveInfinity));
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, "i=6//EURange"), "taken", 1);
            Assert.Throws<ArgumentException>(
                () => space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 6), "d", 1.0, 0, 1));
            Assert.Null(space.Find(new NodeId(2, 6)));
        });
        await using OpcUaClient client = await server.ConnectAsync();

        ReferenceDescription property = Assert.Single(await client.BrowseAsync(new NodeId(2, 5)));
        DataValue value = Assert.Single(await client.ReadAsync([property.NodeId.NodeId]));
        ReferenceDescription variable = Assert.Single(
            await client.BrowseAsync(AddressSpace.ObjectsFolder), static r => r.NodeId.NodeId == new NodeId(2, 5));

        Assert.Equal((new QualifiedName(0, "EURange"), new NodeId(0, 46)), (property.BrowseName, property.ReferenceTypeId));
        Assert.Equal("ns=2;s=i=5//EURange", $"{property.NodeId}");
        Assert.Equal(new NodeId(0, 2368), variable.TypeDefinition.NodeId);
        Assert.Equal(new NodeId(0, 886), value.Value.Get<ExtensionObject>().TypeId.NodeId);
        var decoder = new BinaryDecoder(value.Value.Get<ExtensionObject>().Body.Span, EncodingLimits.Default);
        ValueRange range = decoder.ReadStructure<ValueRange>();
        Assert.Equal((-10, 90), (range.Low, range.High));
    }

    [Fact]
    public async Task An_analog_variable_may_have_a_unit()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 5), "t", 20.5, -10, 90, unit: "°C");
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, "i=6//EngineeringUnits"), "taken", 1);
            Assert.Throws<ArgumentException>(
                () => space.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 6), "d", 1.0, 0, 1, unit: "m"));
            Assert.Null(space.Find(new NodeId(2, 6)));
        });
        await using OpcUaClient client = await server.ConnectAsync();

        ReferenceDescription property = Assert.Single(
            await client.BrowseAsync(new NodeId(2, 5)), static r => r.BrowseName == "EngineeringUnits");
        DataValue value = Assert.Single(await client.ReadAsync([property.NodeId.NodeId]));

        Assert.Equal(new NodeId(0, 46), property.ReferenceTypeId);
        Assert.Equal(new NodeId(0, 889), value.Value.Get<ExtensionObject>().TypeId.NodeId);
        var decoder = new BinaryDecoder(value.Value.Get<ExtensionObject>().Body.Span, EncodingLimits.Default);
        EUInformation unit = decoder.ReadStructure<EUInformation>();
        Assert.Equal((null, -1, "°C"), (unit.NamespaceUri, unit.UnitId, unit.DisplayName.Text));
    }

    [Fact]
    public async Task The_types_declare_what_the_server_object_has()
    {
        await using TestServer server = await TestServer.StartAsync();
        AddressSpace space = server.Server.AddressSpace;
        uint[] types = [2004, 2013, 2020, 2034, 2138, 3051, 11564, 2368];
        uint[] instances = [2253, 2268, 2274, 2296, 2256, 2260, 11704, 0];

        foreach ((uint type, uint instance) in types.Zip(instances))
        {
            Node[] declared = Children(space.Find(new NodeId(0, type))!);
            Assert.NotEmpty(declared);
            Assert.All(declared, static node => Assert.Contains(
                node.References.ToArray(), static r => r.TypeId == new NodeId(0, 37) && r.Target.Id.Number is 78 or 80));
            if (instance != 0)
            {
                Node[] there = Children(space.Find(new NodeId(0, instance))!);
                Assert.Equal(
                    there.Select(static n => (n.BrowseName, n.NodeClass, n.TypeDefinition)).ToHashSet(),
                    declared.Select(static n => (n.BrowseName, n.NodeClass, n.TypeDefinition)).ToHashSet());
            }
        }

        static Node[] Children(Node node) =>
            [.. node.References.ToArray().Where(static r => r.IsForward && r.TypeId.Number is 46 or 47).Select(static r => r.Target)];
    }

    [Fact]
    public async Task Structures_and_enumerations_have_their_definitions()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();

        // ServerStatusDataType, ServerState, and one without.
        DataValue[] values = await client.ReadAsync(
            [new NodeId(0, 862), new NodeId(0, 852), new NodeId(0, 12)], AttributeId.DataTypeDefinition);

        ExtensionObject structure = values[0].Value.Get<ExtensionObject>();
        Assert.Equal(new NodeId(0, 122), structure.TypeId.NodeId);
        var decoder = new BinaryDecoder(structure.Body.Span, EncodingLimits.Default);
        Assert.Equal((new NodeId(0, 864), new NodeId(0, 22), 0), (decoder.ReadNodeId(), decoder.ReadNodeId(), decoder.Read<int>()));
        List<(string?, NodeId, int)> fields = [];
        for (int left = decoder.Read<int>(); left > 0; left--)
        {
            string? name = decoder.ReadString();
            decoder.ReadLocalizedText();
            fields.Add((name, decoder.ReadNodeId(), decoder.Read<int>()));
            Assert.Equal((-1, 0u, false), (decoder.Read<int>(), decoder.Read<uint>(), decoder.Read<byte>() != 0));
        }

        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
        Assert.Equal(
            [
                ("StartTime", new NodeId(0, 294), -1), ("CurrentTime", new NodeId(0, 294), -1), ("State", new NodeId(0, 852), -1),
                ("BuildInfo", new NodeId(0, 338), -1), ("SecondsTillShutdown", new NodeId(0, 7), -1),
                ("ShutdownReason", new NodeId(0, 21), -1),
            ],
            fields);

        ExtensionObject enumeration = values[1].Value.Get<ExtensionObject>();
        Assert.Equal(new NodeId(0, 123), enumeration.TypeId.NodeId);
        decoder = new BinaryDecoder(enumeration.Body.Span, EncodingLimits.Default);
        Assert.Equal((8, 0L), (decoder.Read<int>(), decoder.Read<long>()));
        decoder.ReadLocalizedText();
        decoder.ReadLocalizedText();
        Assert.Equal("Running", decoder.ReadString());
        Assert.Equal(StatusCodes.BadAttributeIdInvalid, values[2].Status);
    }

    // The table of each class in OPC 10000-3, 5.
    private static AttributeId[] Mandatory(NodeClass nodeClass) => nodeClass switch
    {
        NodeClass.Object => [AttributeId.EventNotifier],
        NodeClass.Variable =>
        [
            AttributeId.Value, AttributeId.DataType, AttributeId.ValueRank, AttributeId.AccessLevel, AttributeId.UserAccessLevel,
            AttributeId.Historizing,
        ],
        NodeClass.Method => [AttributeId.Executable, AttributeId.UserExecutable],
        NodeClass.ObjectType or NodeClass.DataType => [AttributeId.IsAbstract],
        NodeClass.VariableType => [AttributeId.DataType, AttributeId.ValueRank, AttributeId.IsAbstract],
        NodeClass.ReferenceType => [AttributeId.IsAbstract, AttributeId.Symmetric],
        _ => throw new ArgumentOutOfRangeException(nameof(nodeClass)),
    };

    private static void Fill(AddressSpace space)
    {
        space.AddFolder(AddressSpace.ObjectsFolder, new NodeId(2, 1), new QualifiedName(2, "Folder"));
        space.AddObject(new NodeId(2, 1), new NodeId(2, 2), new QualifiedName(2, "Object"));
        space.AddVariable(new NodeId(2, 2), new NodeId(2, 3), new QualifiedName(2, "Variable"), 1.5);
        space.AddAnalogVariable(new NodeId(2, 2), new NodeId(2, 4), new QualifiedName(2, "Analog"), 5, 0, 10);
        space.AddArrayVariable(new NodeId(2, 2), new NodeId(2, 5), new QualifiedName(2, "Array"), new[] { "a" });
        space.AddMethod(
            new NodeId(2, 2),
            new NodeId(2, 6),
            new QualifiedName(2, "Method"),
            [new MethodArgument("in", BuiltInType.Int32)],
            [new MethodArgument("out", BuiltInType.String)],
            static (_, _) => ValueTask.FromResult(MethodResult.Good("x")));
    }

    private static async Task<Dictionary<NodeId, NodeClass>> WalkAsync(OpcUaClient client)
    {
        Dictionary<NodeId, NodeClass> reached = new() { [new NodeId(0, NodeIds.RootFolder)] = NodeClass.Object };
        Queue<NodeId> next = new(reached.Keys);
        while (next.TryDequeue(out NodeId node))
        {
            foreach (ReferenceDescription reference in await client.BrowseAsync(node))
            {
                if (reached.TryAdd(reference.NodeId.NodeId, reference.NodeClass))
                {
                    next.Enqueue(reference.NodeId.NodeId);
                }
            }
        }

        return reached;
    }
}
