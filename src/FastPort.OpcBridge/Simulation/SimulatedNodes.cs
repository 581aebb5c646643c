using System.Security.Cryptography;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace FastPort.OpcBridge.Simulation;

/// <summary>
/// The simulation's nodes: 2,000 variables that clients may write, and two methods that transfer a package. Each value contains its index
/// and its generation, so that a client can check it.
/// </summary>
internal sealed class SimulatedNodes
{
    public const string NamespaceUri = "urn:fastport:simulation";

    /// <summary>Number of the object that has all variables.</summary>
    public const uint Root = 90_000;

    private const int Int32Count = 1000;
    private const int DoubleCount = 800;
    private const int StringCount = 200;
    private const uint FirstInt32 = 1000;
    private const uint FirstDouble = 2000;
    private const uint FirstString = 2800;
    private const int MaxPackageBytes = 255 * 1024 * 1024;

    private readonly VariableNode[] _variables = new VariableNode[Int32Count + DoubleCount + StringCount];
    private readonly ushort _namespace;
    private volatile byte[] _package = [];

    public SimulatedNodes(AddressSpace space)
    {
        ushort index = _namespace = space.AddNamespace(NamespaceUri);
        var root = new NodeId(index, Root);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(index, "Simulation"));
        for (int i = 0; i < _variables.Length; i++)
        {
            _variables[i] = i switch
            {
                < Int32Count => space.AddVariable(root, Id(FirstInt32, i), Name("Int32", i), Int32At(i, 0), writable: true),
                < Int32Count + DoubleCount => space.AddVariable(
                    root, Id(FirstDouble, i - Int32Count), Name("Double", i - Int32Count), DoubleAt(i - Int32Count, 0), writable: true),
                _ => space.AddVariable(
                    root,
                    Id(FirstString, i - Int32Count - DoubleCount),
                    Name("String", i - Int32Count - DoubleCount),
                    StringAt(i - Int32Count - DoubleCount, 0),
                    writable: true),
            };
        }

        space.AddMethod(
            root,
            new NodeId(index, Root + 1),
            new QualifiedName(index, "SetPackageSize"),
            [new("Size", BuiltInType.UInt32)],
            [],
            SetPackageSize);
        space.AddMethod(
            root,
            new NodeId(index, Root + 2),
            new QualifiedName(index, "GetPackage"),
            [],
            [new("Package", BuiltInType.ByteString)],
            GetPackage);

        NodeId Id(uint first, int i) => new(index, first + (uint)i);
        QualifiedName Name(string type, int i) => new(index, $"{type}.{i}");
    }

    /// <summary>Number of variables.</summary>
    public int Count => _variables.Length;

    /// <summary>Whether a variable is one of these. Safe from any thread.</summary>
    public bool Has(VariableNode node) => node.Id.NamespaceIndex == _namespace;

    /// <summary>Gives a variable the value of a generation.</summary>
    /// <param name="variable">Index of the variable.</param>
    /// <param name="generation">The generation.</param>
    public void Change(int variable, int generation) => _variables[variable].Value = variable switch
    {
        < Int32Count => new DataValue(Int32At(variable, generation)),
        < Int32Count + DoubleCount => new DataValue(DoubleAt(variable - Int32Count, generation)),
        _ => new DataValue(StringAt(variable - Int32Count - DoubleCount, generation)),
    };

    private static int Int32At(int index, int generation) => unchecked((generation * Int32Count) + index);

    private static double DoubleAt(int index, int generation) => generation + (index / (double)DoubleCount);

    private static string StringAt(int index, int generation) => $"tag-value-{((generation * (long)StringCount) + index) % 1_000_000:D6}";

    private ValueTask<MethodResult> SetPackageSize(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken)
    {
        uint size = inputs.Span[0].Get<uint>();
        if (size > MaxPackageBytes)
        {
            return new ValueTask<MethodResult>(new MethodResult(StatusCodes.BadOutOfRange));
        }

        _package = RandomNumberGenerator.GetBytes((int)size);
        return new ValueTask<MethodResult>(MethodResult.Good());
    }

    private ValueTask<MethodResult> GetPackage(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken) =>
        new(MethodResult.Good((ByteString)_package));
}
