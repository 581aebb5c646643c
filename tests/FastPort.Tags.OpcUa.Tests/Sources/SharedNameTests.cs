using System.Runtime.CompilerServices;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>Servers whose nodes share their browse names, which OPC UA allows.</summary>
public sealed class SharedNameTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Nodes_that_share_a_name_are_told_apart_by_their_ids_in_any_order(bool isReversed)
    {
        const string Other = "http://other/ua";
        await using Bridged bridged = await Bridged.StartAsync(
            space =>
            {
                ushort other = isReversed ? space.AddNamespace(Other) : (ushort)0;
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                other = isReversed ? other : space.AddNamespace(Other);
                var root = new NodeId(ns, 1);
                space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
                Action[] adds =
                [
                    () => Add(space, root, new NodeId(ns, "a/b%"), "Conditions", 1),
                    () => Add(space, root, new NodeId(ns, "c"), "Conditions", 2),

                    // The same identifier in two namespaces.
                    () => Add(space, root, new NodeId(ns, 7), "Level", 3),
                    () => Add(space, root, new NodeId(other, 7), "Level", 4),

                    // Objects, whose children have one name each.
                    () => AddMachine(space, root, new NodeId(ns, 20), 5),
                    () => AddMachine(space, root, new NodeId(ns, 30), 6),
                ];
                Array.ForEach(isReversed ? [.. adds.Reverse()] : adds, static add => add());
            },
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));

        Assert.Equal(
            [
                ("plant/Conditions@s=a%2Fb%25", 1), ("plant/Conditions@s=c", 2),
                ("plant/Level@nsu=http:%2F%2Fother%2Fua;i=7", 4), ("plant/Level@nsu=urn:fastport:test;i=7", 3),
                ("plant/Machine@i=20/Speed", 5), ("plant/Machine@i=30/Speed", 6),
            ],
            await ReadAllAsync(bridged));
        string told = Assert.Single(bridged.Log.WithId(8110)).Text;
        Assert.StartsWith("Endpoint plant: 3 names are shared by several nodes", told, StringComparison.Ordinal);
        Assert.Contains("'plant/Conditions'", told, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_node_that_the_configuration_names_leaves_its_name_to_the_other_one()
    {
        await using Bridged bridged = await Bridged.StartAsync(
            static space =>
            {
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                var root = new NodeId(ns, 1);
                space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
                Add(space, root, new NodeId(ns, 2), "Speed", 1);
                Add(space, root, new NodeId(ns, 3), "Speed", 2);
            },
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
            ("Tags:0:Name", "mine"),
            ("Tags:0:Endpoint", "plant"),
            ("Tags:0:NamespaceUri", Bridged.NamespaceUri),
            ("Tags:0:NodeId", "i=2"));

        Assert.Equal([("mine", 1), ("plant/Speed", 2), ("plant/Speed@i=2", 1)], await ReadAllAsync(bridged));
        Assert.Empty(bridged.Log.WithId(8110));
    }

    /// <summary>Below i=85 is everything, but what the server says of its sessions and alarms.</summary>
    [Fact]
    public async Task What_a_server_tells_about_its_clients_and_its_conditions_are_no_tags_unless_asked_for()
    {
        (string, string)[] keys = [("Endpoints:plant:EndpointUrl", "{url}"), ("Endpoints:plant:Below:0", "i=85")];
        await using (Bridged bridged = await Bridged.StartAsync(Build, keys))
        {
            Assert.Contains("plant/Server/ServerStatus", bridged.Source.Known.Names);
            Assert.DoesNotContain(bridged.Source.Known.Names, static name => name.Contains("Diagnostics", StringComparison.Ordinal));
        }

        await using Bridged asked = await Bridged.StartAsync(Build, [.. keys, ("Endpoints:plant:Below:1", "i=2274")]);
        Assert.Contains("plant/SessionsDiagnostics", asked.Source.Known.Names);

        static void Build(AddressSpace space)
        {
            ushort ns = space.AddNamespace(Bridged.NamespaceUri);
            space.AddVariable(new NodeId(0, 2274), new NodeId(ns, 1), new QualifiedName(ns, "SessionsDiagnostics"), 1);
        }
    }

    /// <summary>An alarm is of a type that is derived from ConditionType, maybe in several steps.</summary>
    [Theory]
    [InlineData(2782, false)]
    [InlineData(2782, true)]
    [InlineData(12581, false)]
    public async Task Conditions_and_the_configuration_of_certificates_are_no_tags_unless_asked_for(uint type, bool isDerived)
    {
        (string, string)[] keys =
            [("Endpoints:plant:EndpointUrl", "{url}"), ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1")];
        await using (Bridged bridged = await Bridged.StartAsync(Build, keys))
        {
            Assert.Equal(["plant/Speed"], bridged.Source.Known.Names);
        }

        await using Bridged asked = await Bridged.StartAsync(
            Build, [.. keys, ("Endpoints:plant:Below:1", $"nsu={Bridged.NamespaceUri};i=3")]);
        Assert.Equal(["plant/Severity", "plant/Speed"], asked.Source.Known.Names.Order(StringComparer.Ordinal));

        void Build(AddressSpace space)
        {
            const uint HasComponent = 47;
            const uint HasSubtype = 45;

            // Of the types that the server has.
            const uint Derived = 11564;
            ushort ns = space.AddNamespace(Bridged.NamespaceUri);
            var root = new NodeId(ns, 1);
            space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
            Add(space, root, new NodeId(ns, 2), "Speed", 1);
            ObjectNode hidden = space.AddObject(AddressSpace.ObjectsFolder, new NodeId(0, type), "Type");
            if (isDerived)
            {
                Link(null, hidden, HasSubtype, space.Find(new NodeId(0, Derived))!);
            }

            ObjectNode alarm = Create(new NodeId(ns, 3), new QualifiedName(ns, "Alarm"));
            AddNode(space, alarm, root, HasComponent, isDerived ? Derived : type);
            Add(space, alarm.Id, new NodeId(ns, 4), "Severity", 500);
        }
    }

    // Servers of FastPort have no such types.
    [UnsafeAccessor(UnsafeAccessorKind.Constructor)]
    private static extern ObjectNode Create(NodeId id, QualifiedName browseName);

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Add")]
    private static extern T AddNode<T>(AddressSpace space, T node, NodeId parent, uint referenceType, uint typeDefinition)
        where T : Node;

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Link")]
    private static extern void Link(AddressSpace? space, Node source, uint referenceType, Node target);

    private static async Task<(string Name, int Value)[]> ReadAllAsync(Bridged bridged)
    {
        string[] names = [.. bridged.Source.Known.Names.Order(StringComparer.Ordinal)];
        TagSamples samples = await bridged.Client.ReadAsync(await bridged.Client.ResolveAsync(names));
        return [.. names.Select((name, i) => (name, samples.GetValue(i).Get<int>()))];
    }

    private static void Add(AddressSpace space, NodeId parent, NodeId node, string name, int value) =>
        space.AddVariable(parent, node, new QualifiedName(parent.NamespaceIndex, name), value);

    private static void AddMachine(AddressSpace space, NodeId root, NodeId machine, int speed)
    {
        space.AddObject(root, machine, new QualifiedName(root.NamespaceIndex, "Machine"));
        Add(space, machine, new NodeId(machine.NamespaceIndex, machine.Number + 1), "Speed", speed);
    }
}
