using System.Numerics;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>When a value counts as changed (OPC 10000-4, 7.22.2).</summary>
/// <param name="Trigger">The compared parts.</param>
/// <param name="Deadband">A number has changed if it differs by more than this; 0 for any difference.</param>
internal readonly record struct DataFilter(DataChangeTrigger Trigger, double Deadband)
{
    // Values of DeadbandType (OPC 10000-4, 7.22.2).
    private const uint NoDeadband = 0;
    private const uint AbsoluteDeadband = 1;
    private const uint PercentDeadband = 2;

    /// <summary>The filter of an item that asks for none.</summary>
    public static DataFilter Default => new(DataChangeTrigger.StatusValue, Deadband: 0);

    /// <summary>
    /// Reads the filter that a client requests. A deadband in percent is relative to the variable's range (OPC 10000-8, 6.2).
    /// </summary>
    public static StatusCode TryRead(
        ExtensionObject? filter, Node node, AttributeId attribute, EncodingLimits limits, out DataFilter result)
    {
        result = Default;
        if (filter is null)
        {
            return StatusCodes.Good;
        }

        if (filter.TypeId.NodeId != new NodeId(0, DataChangeFilter.EncodingId))
        {
            return StatusCodes.BadMonitoredItemFilterUnsupported;
        }

        if (attribute != AttributeId.Value || node is not VariableNode variable)
        {
            return StatusCodes.BadFilterNotAllowed;
        }

        var decoder = new BinaryDecoder(filter.Body.Span, limits);
        DataChangeFilter wish = decoder.ReadStructure<DataChangeFilter>();
        if (filter.Encoding != ExtensionObjectEncoding.Binary || !decoder.Error.IsGood
            || (uint)wish.Trigger > (uint)DataChangeTrigger.StatusValueTimestamp)
        {
            return StatusCodes.BadMonitoredItemFilterInvalid;
        }

        // With a deadband the timestamp does not count (OPC 10000-4, 7.10).
        StatusCode status = TryReadDeadband(wish, variable, out double deadband);
        DataChangeTrigger trigger = wish.DeadbandType != NoDeadband && wish.Trigger == DataChangeTrigger.StatusValueTimestamp
            ? DataChangeTrigger.StatusValue
            : wish.Trigger;
        result = new DataFilter(trigger, deadband);
        return status;
    }

    private static StatusCode TryReadDeadband(in DataChangeFilter wish, VariableNode variable, out double deadband)
    {
        deadband = 0;
        if (wish.DeadbandType == NoDeadband)
        {
            return StatusCodes.Good;
        }

        if (variable.Type is < BuiltInType.SByte or > BuiltInType.Double)
        {
            return StatusCodes.BadFilterNotAllowed;
        }

        if (wish.DeadbandType > PercentDeadband || !(wish.DeadbandValue >= 0))
        {
            return StatusCodes.BadDeadbandFilterInvalid;
        }

        deadband = wish.DeadbandValue;
        if (wish.DeadbandType == AbsoluteDeadband)
        {
            return StatusCodes.Good;
        }

        if (variable.EuRange is not { } range)
        {
            return StatusCodes.BadMonitoredItemFilterUnsupported;
        }

        deadband = deadband / 100 * (range.High - range.Low);
        return wish.DeadbandValue <= 100 ? StatusCodes.Good : StatusCodes.BadDeadbandFilterInvalid;
    }

    public bool IsChange(in DataValue last, in DataValue next) =>
        last.Status != next.Status
        || (Trigger == DataChangeTrigger.StatusValueTimestamp
            && (last.SourceTimestamp != next.SourceTimestamp || last.SourcePicoseconds != next.SourcePicoseconds))
        || (Trigger != DataChangeTrigger.Status && Differs(last.Value, next.Value));

    private bool Differs(in Variant last, in Variant next)
    {
        if (last.Type == next.Type && !last.IsArray && !next.IsArray && last.Reference is null && next.Reference is null)
        {
            return last.Bits != next.Bits && (Deadband == 0 || Exceeds(ToDouble(last), ToDouble(next)));
        }

        if (Deadband == 0 || last.Type != next.Type || last.Reference is not Array old || next.Reference is not Array values
            || old.Length != values.Length)
        {
            return !last.Equals(next);
        }

        return last.Type switch
        {
            BuiltInType.SByte => AnyExceeds<sbyte>(old, values),
            BuiltInType.Byte => AnyExceeds<byte>(old, values),
            BuiltInType.Int16 => AnyExceeds<short>(old, values),
            BuiltInType.UInt16 => AnyExceeds<ushort>(old, values),
            BuiltInType.Int32 => AnyExceeds<int>(old, values),
            BuiltInType.UInt32 => AnyExceeds<uint>(old, values),
            BuiltInType.Int64 => AnyExceeds<long>(old, values),
            BuiltInType.UInt64 => AnyExceeds<ulong>(old, values),
            BuiltInType.Float => AnyExceeds<float>(old, values),
            BuiltInType.Double => AnyExceeds<double>(old, values),
            _ => !last.Equals(next),
        };
    }

    private bool AnyExceeds<T>(Array last, Array next)
        where T : INumberBase<T>
    {
        var (old, values) = ((T[])last, (T[])next);
        for (int i = 0; i < values.Length; i++)
        {
            if (Exceeds(double.CreateTruncating(old[i]), double.CreateTruncating(values[i])))
            {
                return true;
            }
        }

        return false;
    }

    // A change to or from NaN is one.
    private bool Exceeds(double last, double next) =>
        double.IsNaN(last) || double.IsNaN(next) ? double.IsNaN(last) != double.IsNaN(next) : Math.Abs(next - last) > Deadband;

    private static double ToDouble(in Variant value) => value.Type switch
    {
        BuiltInType.SByte => (sbyte)value.Bits,
        BuiltInType.Int16 => (short)value.Bits,
        BuiltInType.Int32 => (int)value.Bits,
        BuiltInType.Int64 => (long)value.Bits,
        BuiltInType.Float => BitConverter.UInt32BitsToSingle((uint)value.Bits),
        BuiltInType.Double => BitConverter.UInt64BitsToDouble(value.Bits),
        _ => value.Bits,
    };
}
