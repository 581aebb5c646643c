using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>Instance declarations of the standard types, and the rules that they carry (OPC 10000-3, 6.4.4).</content>
public sealed partial class AddressSpace
{
    private static readonly (uint Id, string Name)[] Rules = [(NodeIds.Mandatory, "Mandatory"), (NodeIds.Optional, "Optional")];

    private void AddDeclarations()
    {
        foreach ((uint id, string name) in Rules)
        {
            AddStandard(
                new ObjectNode(new NodeId(0, id), name), NodeIds.ModellingRules, NodeIds.Organizes, NodeIds.ModellingRuleType);
        }

        foreach ((uint parent, uint id, uint instance, bool isMandatory) in StandardDeclarations.All)
        {
            Declare(parent, id, Standard(instance), isMandatory);
        }

        // No node of the Server object has a range.
        var range = new VariableNode(
            new NodeId(0, NodeIds.AnalogRange), "EURange", BuiltInType.ExtensionObject, new NodeId(0, NodeIds.Range), valueRank: -1)
        {
            Value = Variant.From(default(ValueRange).ToExtensionObject()),
        };
        AddStandard(range, NodeIds.AnalogItemType, NodeIds.HasProperty, NodeIds.PropertyType);
        Link(range, NodeIds.HasModellingRule, Standard(NodeIds.Mandatory));
    }

    // A declared variable has the value that the instance has at the start.
    private void Declare(uint parent, uint id, Node instance, bool isMandatory)
    {
        var nodeId = new NodeId(0, id);
        Node node = instance switch
        {
            VariableNode variable => new VariableNode(nodeId, variable.BrowseName, variable.Type, variable.DataType, variable.ValueRank)
            {
                Value = variable.Value,
            },
            MethodNode method => new MethodNode(nodeId, method.BrowseName, method.Inputs, method.Outputs, method.Handler)
            {
                SessionHandler = method.SessionHandler,
            },
            _ => new ObjectNode(nodeId, instance.BrowseName),
        };
        uint reference = instance.TypeDefinition == new NodeId(0, NodeIds.PropertyType) ? NodeIds.HasProperty : NodeIds.HasComponent;
        AddStandard(node, parent, reference, instance.TypeDefinition.Number);
        Link(node, NodeIds.HasModellingRule, Standard(isMandatory ? NodeIds.Mandatory : NodeIds.Optional));
    }
}
