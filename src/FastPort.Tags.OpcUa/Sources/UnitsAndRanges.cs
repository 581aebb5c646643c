using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using FastPort.OpcUa;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>Units and ranges of variables: their properties EngineeringUnits and EURange (OPC 10000-8, 5.3.2).</summary>
internal sealed class UnitsAndRanges(IOpcUaLink link)
{
    // The encodings of their structures (OPC 10000-8, 5.6.2 and 5.6.3).
    private const uint RangeEncoding = 886;
    private const uint EUInformationEncoding = 889;

    // A type with this bit is an array of it (OPC 10000-6, 5.2.2.16).
    private const byte ArrayBit = 0x80;

    // The property of each variable that has it.
    private readonly Dictionary<NodeId, NodeId> _units = [];
    private readonly Dictionary<NodeId, NodeId> _ranges = [];

    /// <summary>Looks at a property of a variable.</summary>
    public void Add(NodeId variable, QualifiedName name, NodeId property)
    {
        if (name == "EngineeringUnits")
        {
            _units[variable] = property;
        }
        else if (name == "EURange")
        {
            _ranges[variable] = property;
        }
    }

    /// <summary>Reads the units of the variables that have one.</summary>
    public ValueTask<Dictionary<NodeId, string>> ReadUnitsAsync(CancellationToken cancellationToken) =>
        ReadAsync<string>(_units, TryReadUnit, cancellationToken);

    /// <summary>Reads the ranges of the variables that have one.</summary>
    public ValueTask<Dictionary<NodeId, (double Low, double High)>> ReadRangesAsync(CancellationToken cancellationToken) =>
        ReadAsync<(double Low, double High)>(_ranges, TryReadRange, cancellationToken);

    /// <summary>Reads a Range.</summary>
    internal static bool TryReadRange(in Variant value, out (double Low, double High) range)
    {
        range = default;
        if (!TryGetBody(value, RangeEncoding, out ReadOnlySpan<byte> body) || !TryReadTwo(BuiltInType.Double, body, out double[]? ends))
        {
            return false;
        }

        range = (ends[0], ends[1]);
        return true;
    }

    /// <summary>
    /// Reads the name of an EUInformation: a text and a number say which unit it is, then come its name and a description.
    /// </summary>
    internal static bool TryReadUnit(in Variant value, [NotNullWhen(true)] out string? unit)
    {
        unit = null;
        if (TryGetBody(value, EUInformationEncoding, out ReadOnlySpan<byte> body)
            && BinaryPrimitives.TryReadInt32LittleEndian(body, out int length))
        {
            long from = sizeof(int) + Math.Max(length, 0L) + sizeof(int);
            unit = from <= body.Length && TryReadTwo(BuiltInType.LocalizedText, body[(int)from..], out LocalizedText[]? texts)
                ? texts[0].Text
                : null;
        }

        return unit is not null;
    }

    private static bool TryGetBody(in Variant value, uint encoding, out ReadOnlySpan<byte> body)
    {
        bool isIt = value.TryGet(out ExtensionObject? structure)
            && structure is { Encoding: ExtensionObjectEncoding.Binary } && structure.TypeId.NodeId == new NodeId(0, encoding);
        body = isIt ? structure!.Body.Span : default;
        return isIt;
    }

    // Two fields of one type are encoded like an array of them.
    private static bool TryReadTwo<T>(BuiltInType type, ReadOnlySpan<byte> fields, [NotNullWhen(true)] out T[]? values)
    {
        bool isRead = Variant.TryReadBinary([(byte)((byte)type | ArrayBit), 2, 0, 0, 0, .. fields], out Variant array);
        values = isRead ? array.GetArray<T>() : null;
        return values is not null;
    }

    private async ValueTask<Dictionary<NodeId, T>> ReadAsync<T>(
        Dictionary<NodeId, NodeId> properties, Reader<T> reader, CancellationToken cancellationToken)
    {
        Dictionary<NodeId, T> read = [];
        if (properties.Count != 0)
        {
            DataValue[] values = await link.ReadAsync([.. properties.Values], AttributeId.Value, cancellationToken).ConfigureAwait(false);
            foreach ((int i, NodeId variable) in properties.Keys.Index())
            {
                if (reader(values[i].Value, out T? value))
                {
                    read.Add(variable, value);
                }
            }
        }

        return read;
    }

    private delegate bool Reader<T>(in Variant value, [NotNullWhen(true)] out T? result);
}
