using System.Diagnostics;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>Variables with a range.</content>
public sealed partial class AddressSpace
{
    private const string EURange = nameof(EURange);
    private const string EngineeringUnits = nameof(EngineeringUnits);

    /// <summary>
    /// Adds a number with the range that it has in normal operation (AnalogItemType; OPC 10000-8, 5.3.2.3). Deadbands in percent are
    /// relative to the range.
    /// </summary>
    /// <typeparam name="T">The .NET type of a number: <see cref="sbyte"/> to <see cref="ulong"/>, float or double.</typeparam>
    /// <param name="parent">The parent object or folder.</param>
    /// <param name="id">
    /// The variable's id. Its properties EURange and EngineeringUnits get string ids derived from it, in the same namespace.
    /// </param>
    /// <param name="browseName">The variable's name.</param>
    /// <param name="value">The first value.</param>
    /// <param name="low">Low end of the range, in the unit of the value; finite.</param>
    /// <param name="high">High end of the range, in the unit of the value; finite and above <paramref name="low"/>.</param>
    /// <param name="writable">Whether clients may write it, also outside the range. Defaults to false.</param>
    /// <param name="unit">The unit of the value, such as <c>°C</c>. Defaults to null: no property EngineeringUnits.</param>
    /// <exception cref="ArgumentException">The parent does not exist, an id is taken, or the range is not valid.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not a type of numbers.</exception>
    public VariableNode AddAnalogVariable<T>(
        NodeId parent,
        NodeId id,
        QualifiedName browseName,
        T value,
        double low,
        double high,
        bool writable = false,
        string? unit = null)
    {
        BuiltInType type = BuiltInTypes.OfScalar<T>();
        if (type is < BuiltInType.SByte or > BuiltInType.Double)
        {
            throw new NotSupportedException($"The variable {id} has a range, so it must be a number, not a {typeof(T).Name}.");
        }

        CheckRange(id, low, high);
        var node = new VariableNode(id, browseName, type, new NodeId(0, (uint)type), valueRank: -1)
        {
            IsWritable = writable,
            Value = Variant.From(value),
        };
        lock (_gate)
        {
            CheckFree(id, EURange);
            CheckFree(id, EngineeringUnits);
            Add(node, parent, NodeIds.HasComponent, NodeIds.AnalogItemType);
            SetRangeAndUnit(node, (low, high), unit);
            return node;
        }
    }

    /// <summary>
    /// Gives a variable a range in normal operation and a unit: adds the properties EURange and EngineeringUnits, or changes existing ones.
    /// A number with a range is then an AnalogItemType, a number with only a unit a BaseAnalogType (OPC 10000-8, 5.3.2). Deadbands of
    /// existing monitored items do not change.
    /// </summary>
    /// <param name="variable">The variable.</param>
    /// <param name="range">The ends of the range, finite, the low one below the high one; null for none.</param>
    /// <param name="unit">The unit, such as <c>°C</c>; null for none.</param>
    /// <exception cref="ArgumentException">The range is not valid, or the id of a property is taken.</exception>
    public void SetRangeAndUnit(VariableNode variable, (double Low, double High)? range, string? unit)
    {
        ArgumentNullException.ThrowIfNull(variable);
        ExtensionObject? ends = null;
        if (range is { } given)
        {
            CheckRange(variable.Id, given.Low, given.High);
            ends = new ValueRange { Low = given.Low, High = given.High }.ToExtensionObject();
        }

        // Whether the unit is on a standard list is unknown: it has no number there.
        ExtensionObject? information = unit is null ? null
            : new EUInformation { UnitId = -1, DisplayName = unit, Description = unit }.ToExtensionObject();
        uint type = variable.Type is < BuiltInType.SByte or > BuiltInType.Double ? NodeIds.BaseDataVariableType
            : range is not null ? NodeIds.AnalogItemType
            : unit is not null ? NodeIds.BaseAnalogType
            : NodeIds.BaseDataVariableType;
        lock (_gate)
        {
            SetProperty(variable, EURange, NodeIds.Range, ends);
            SetProperty(variable, EngineeringUnits, NodeIds.EUInformation, information);
            variable.EuRange = range;
            variable.SetType(Find(new NodeId(0, type))!);
        }
    }

    // Under the gate. A property that a variable once had stays, without a value.
    private void SetProperty(VariableNode variable, string name, uint dataType, ExtensionObject? value)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        NodeId id = PropertyId(variable.Id, name);
        VariableNode? property = null;
        foreach (Reference reference in variable.References)
        {
            property = reference.IsForward && reference.Target.Id == id ? (VariableNode)reference.Target : property;
        }

        if (property is null && value is not null)
        {
            CheckFree(variable.Id, name);
            property = new VariableNode(id, name, BuiltInType.ExtensionObject, new NodeId(0, dataType), valueRank: -1);
            property.Value = Variant.From(value);
            Add(property, variable.Id, NodeIds.HasProperty, NodeIds.PropertyType);
        }
        else if (property is not null)
        {
            property.Value = value is null ? Variant.Null : Variant.From(value);
        }
    }

    private static void CheckRange(NodeId id, double low, double high)
    {
        if (!double.IsFinite(low) || !double.IsFinite(high) || low >= high)
        {
            throw new ArgumentException($"The range of the variable {id}, {low} to {high}, must be finite and not empty.", nameof(high));
        }
    }

    private void CheckFree(NodeId variable, string property)
    {
        NodeId id = PropertyId(variable, property);
        if (Find(id) is not null)
        {
            throw new ArgumentException($"The node id {id}, for the {property} of the variable {variable}, is taken.", nameof(variable));
        }
    }

    // Two slashes: in paths that are ids no part is empty.
    private static NodeId PropertyId(NodeId variable, string property) =>
        new(variable.NamespaceIndex, $"{variable.InNamespace(0)}//{property}");
}
