using FastPort.OpcUa;
using FastPort.OpcUa.Server;

/// <summary>Machines with ten variables each, which clients may write, and a recipe that methods transfer.</summary>
internal sealed class Plant
{
    private const int Machines = 200;
    private const int Stations = 5;
    private const int Heaters = 4;

    private volatile byte[] _recipe = [];

    public Plant(AddressSpace space)
    {
        ushort index = space.AddNamespace("urn:fastport:plant");
        var plant = new NodeId(index, "Plant");
        space.AddObject(AddressSpace.ObjectsFolder, plant, new QualifiedName(index, "Plant"));
        space.AddMethod(
            plant,
            new NodeId(index, "StoreRecipe"),
            new QualifiedName(index, "StoreRecipe"),
            [new("Recipe", BuiltInType.ByteString)],
            [],
            StoreRecipe);
        space.AddMethod(
            plant,
            new NodeId(index, "LoadRecipe"),
            new QualifiedName(index, "LoadRecipe"),
            [],
            [new("Recipe", BuiltInType.ByteString)],
            LoadRecipe);
        for (int i = 0; i < Machines; i++)
        {
            AddMachine(space, plant, i);
        }
    }

    private static void AddMachine(AddressSpace space, NodeId plant, int number)
    {
        ushort index = plant.NamespaceIndex;
        NodeId machine = Id("");
        space.AddObject(plant, machine, new QualifiedName(index, $"Machine {number}"));
        space.AddVariable(machine, Id("/Name"), Name("Name"), $"machine-{number:D3}", writable: true);
        for (int i = 0; i < Stations; i++)
        {
            space.AddVariable(machine, Id($"/Parts{i}"), Name($"Parts {i}"), (number * 10) + i, writable: true);
        }

        for (int i = 0; i < Heaters; i++)
        {
            space.AddVariable(machine, Id($"/Temperature{i}"), Name($"Temperature {i}"), 20 + (i / 2.0), writable: true);
        }

        NodeId Id(string part) => new(index, $"Machine{number}{part}");
        QualifiedName Name(string text) => new(index, text);
    }

    // Called on the loop of the client's connection, so the loops of several clients may call at once.
    private ValueTask<MethodResult> StoreRecipe(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken)
    {
        _recipe = inputs.Span[0].Get<ByteString>().ToArray() ?? [];
        return new ValueTask<MethodResult>(MethodResult.Good());
    }

    private ValueTask<MethodResult> LoadRecipe(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken) =>
        new(MethodResult.Good((ByteString)_recipe));
}
