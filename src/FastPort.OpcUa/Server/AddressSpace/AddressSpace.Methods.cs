using System.Buffers;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <content>Methods and the properties that describe their arguments.</content>
public sealed partial class AddressSpace
{
    /// <summary>Adds a method.</summary>
    /// <param name="parent">The object that has it.</param>
    /// <param name="id">The method's id. The properties with its arguments get string ids derived from it, in the same namespace.</param>
    /// <param name="browseName">The method's name.</param>
    /// <param name="inputs">The input arguments.</param>
    /// <param name="outputs">The output arguments.</param>
    /// <param name="handler">Serves the calls.</param>
    /// <exception cref="ArgumentException">The parent does not exist, or the id is taken.</exception>
    public MethodNode AddMethod(
        NodeId parent,
        NodeId id,
        QualifiedName browseName,
        IReadOnlyList<MethodArgument> inputs,
        IReadOnlyList<MethodArgument> outputs,
        MethodHandler handler)
    {
        ArgumentNullException.ThrowIfNull(inputs);
        ArgumentNullException.ThrowIfNull(outputs);
        ArgumentNullException.ThrowIfNull(handler);
        lock (_gate)
        {
            MethodNode method = Add(new MethodNode(id, browseName, inputs, outputs, handler), parent, NodeIds.HasComponent, 0);
            AddArguments(method, "InputArguments", new NodeId(id.NamespaceIndex, $"{id}/InputArguments"), inputs);
            AddArguments(method, "OutputArguments", new NodeId(id.NamespaceIndex, $"{id}/OutputArguments"), outputs);
            return method;
        }
    }

    private void AddArguments(MethodNode method, string name, NodeId id, IReadOnlyList<MethodArgument> arguments)
    {
        if (arguments.Count == 0)
        {
            return;
        }

        var node = new VariableNode(
            id,
            name,
            BuiltInType.ExtensionObject,
            new NodeId(0, NodeIds.Argument),
            valueRank: 1)
        {
            Value = Variant.FromArray(arguments.Select(Encode).ToArray()),
        };
        Insert(node);
        Link(method, NodeIds.HasProperty, node);
        Link(node, NodeIds.HasTypeDefinition, Standard(NodeIds.PropertyType));
    }

    private static ExtensionObject Encode(MethodArgument argument)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteString(argument.Name);
        encoder.WriteNodeId(new NodeId(0, (uint)argument.Type));
        encoder.Write(argument.IsArray ? 1 : -1);
        encoder.WriteArray<uint>(argument.IsArray ? [0] : null);
        encoder.WriteLocalizedText(argument.Description);
        encoder.Complete();
        return new ExtensionObject(
            new NodeId(0, MethodArgument.EncodingId), ExtensionObjectEncoding.Binary, buffer.WrittenSpan.ToArray());
    }
}
