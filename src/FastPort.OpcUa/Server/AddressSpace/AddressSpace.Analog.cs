using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>Variables with a range.</content>
public sealed partial class AddressSpace
{
    /// <summary>
    /// Adds a number with the range that it has in normal operation (AnalogItemType; OPC 10000-8, 5.3.2.3). Deadbands in percent are
    /// relative to the range.
    /// </summary>
    /// <typeparam name="T">The .NET type of a number: <see cref="sbyte"/> to <see cref="ulong"/>, float or double.</typeparam>
    /// <param name="parent">The object or folder that it lies in.</param>
    /// <param name="id">
    /// The variable's id. Its properties EURange and EngineeringUnits get a text of it as id, in the same namespace.
    /// </param>
    /// <param name="browseName">The variable's name.</param>
    /// <param name="value">The first value.</param>
    /// <param name="low">Low end of the range, in the unit of the value; finite.</param>
    /// <param name="high">High end of the range, in the unit of the value; finite and above <paramref name="low"/>.</param>
    /// <param name="writable">Whether clients may write it, also outside the range. Defaults to false.</param>
    /// <param name="unit">The unit of the value, such as <c>°C</c>. Defaults to null: no property EngineeringUnits.</param>
    /// <exception cref="ArgumentException">The parent is not there, an id is taken, or the range is none.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is the type of no number.</exception>
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

        if (!double.IsFinite(low) || !double.IsFinite(high) || low >= high)
        {
            throw new ArgumentException($"The range of the variable {id}, {low} to {high}, must be finite and not empty.", nameof(high));
        }

        var node = new VariableNode(id, browseName, type, new NodeId(0, (uint)type), valueRank: -1)
        {
            IsWritable = writable,
            Value = Variant.From(value),
            EuRange = (low, high),
        };
        VariableNode range = PropertyOf(id, "EURange", NodeIds.Range, new ValueRange { Low = low, High = high }.ToExtensionObject());

        // Whether the unit is one of a list is not known: it has no number in one.
        VariableNode? units = unit is null ? null
            : PropertyOf(
                id,
                "EngineeringUnits",
                NodeIds.EUInformation,
                new EUInformation { UnitId = -1, DisplayName = unit, Description = unit }.ToExtensionObject());
        lock (_gate)
        {
            if (new[] { range, units }.FirstOrDefault(property => property is not null && Find(property.Id) is not null) is { } taken)
            {
                throw new ArgumentException(
                    $"The node id {taken.Id}, for the {taken.BrowseName.Name} of the variable {id}, is taken.", nameof(id));
            }

            Add(node, parent, NodeIds.HasComponent, NodeIds.AnalogItemType);
            Add(range, id, NodeIds.HasProperty, NodeIds.PropertyType);
            if (units is not null)
            {
                Add(units, id, NodeIds.HasProperty, NodeIds.PropertyType);
            }

            return node;
        }
    }

    private static VariableNode PropertyOf(NodeId variable, string name, uint dataType, ExtensionObject value) => new(
        new NodeId(variable.NamespaceIndex, $"{variable}/{name}"),
        name,
        BuiltInType.ExtensionObject,
        new NodeId(0, dataType),
        valueRank: -1)
    {
        Value = Variant.From(value),
    };
}
