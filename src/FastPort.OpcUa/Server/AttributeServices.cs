using System.Buffers;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Read and Write (OPC 10000-4, 5.11). Each node is read as it is decoded, straight into the response, without lists of requests or
/// results. Written values are decoded first.
/// </summary>
internal static class AttributeServices
{
    // The fewest bytes of a node to read or write.
    private const int MinOperationBytes = 2 + sizeof(uint) + sizeof(int) + 1;

    public static void Read(in ServiceCall call, ref BinaryDecoder decoder)
    {
        double maxAge = decoder.Read<double>();
        var timestamps = (TimestampsToReturn)decoder.Read<int>();
        int count = decoder.ReadLength(int.MaxValue, MinOperationBytes);
        StatusCode refused = !decoder.Error.IsGood ? decoder.Error
            : count <= 0 ? StatusCodes.BadNothingToDo
            : count > call.Server.Options.MaxNodesPerRead ? StatusCodes.BadTooManyOperations
            : maxAge < 0 ? StatusCodes.BadMaxAgeInvalid
            : (uint)timestamps > (uint)TimestampsToReturn.Neither ? StatusCodes.BadTimestampsToReturnInvalid
            : StatusCodes.Good;
        if (!refused.IsGood)
        {
            call.Fault(refused);
            return;
        }

        MessageBuffer buffer = call.Channel.BeginResponse();
        try
        {
            EncodeValues(call, ref decoder, buffer, count, timestamps);
        }
        catch
        {
            // Its memory counts until it is returned.
            buffer.Dispose();
            throw;
        }

        // Also checked on the way: a large value that is requested ten thousand times is not encoded that often.
        StatusCode failed = buffer.TotalLength > call.Channel.LargestResponse ? StatusCodes.BadResponseTooLarge : decoder.Error;
        if (!failed.IsGood)
        {
            buffer.Clear(0);
            call.Fault(failed);
            return;
        }

        call.Channel.EndResponse(call.RequestId, call.Header.RequestHandle, buffer);
    }

    public static void Write(in ServiceCall call, ref BinaryDecoder decoder)
    {
        int count = decoder.ReadLength(int.MaxValue, MinOperationBytes);
        StatusCode refused = !decoder.Error.IsGood ? decoder.Error
            : count <= 0 ? StatusCodes.BadNothingToDo
            : count > call.Server.Options.MaxNodesPerWrite ? StatusCodes.BadTooManyOperations
            : StatusCodes.Good;
        if (!refused.IsGood)
        {
            call.Fault(refused);
            return;
        }

        // All are decoded before the first is written: a malformed request has no effect.
        WriteValue[] items = ArrayPool<WriteValue>.Shared.Rent(count);
        Span<WriteValue> used = items.AsSpan(0, count);
        foreach (ref WriteValue item in used)
        {
            if (decoder.TryReadValueOperand(out byte index, out ushort number))
            {
                (item.NodeId, item.AttributeId, item.IndexRange) = (new NodeId(index, number), (uint)AttributeId.Value, null);
                decoder.ReadDataValue(out item.Value);
            }
            else
            {
                item = decoder.ReadStructure<WriteValue>();
            }
        }

        if (decoder.Error.IsGood)
        {
            Write(call, used);
        }
        else
        {
            call.Fault(decoder.Error);
        }

        used.Clear();
        ArrayPool<WriteValue>.Shared.Return(items);
    }

    /// <summary>Answers a Write.</summary>
    public static void Reply(in ServiceCall call, ReadOnlySpan<StatusCode> statuses)
    {
        MessageBuffer buffer = call.Channel.BeginResponse();
        var encoder = new BinaryEncoder(buffer);
        call.Channel.EncodeHeader(ref encoder, WriteResponse.EncodingId, call.Header.RequestHandle, StatusCodes.Good);
        encoder.Write(statuses.Length);
        foreach (StatusCode status in statuses)
        {
            encoder.Write(status.Value);
        }

        // No diagnostics.
        encoder.Write(-1);
        encoder.Complete();
        call.Channel.EndResponse(call.RequestId, call.Header.RequestHandle, buffer);
    }

    // Values that handlers take are answered by them, later.
    private static void Write(in ServiceCall call, ReadOnlySpan<WriteValue> items)
    {
        StatusCode[] rented = ArrayPool<StatusCode>.Shared.Rent(items.Length);
        Span<StatusCode> statuses = rented.AsSpan(0, items.Length);
        HandledWrites? handled = null;
        DateTime now = call.Server.Time.GetUtcNow().UtcDateTime;
        var budget = new PartBudget();
        for (int i = 0; i < items.Length; i++)
        {
            statuses[i] = WriteAttribute(call, items[i], ref budget, now, i, ref handled);
        }

        if (handled is null)
        {
            Reply(call, statuses);
        }
        else
        {
            _ = handled.RunAsync(call, statuses.ToArray());
        }

        ArrayPool<StatusCode>.Shared.Return(rented);
    }

    private static void EncodeValues(
        in ServiceCall call, ref BinaryDecoder decoder, MessageBuffer buffer, int count, TimestampsToReturn timestamps)
    {
        var encoder = new BinaryEncoder(buffer);
        call.Channel.EncodeHeader(ref encoder, ReadResponse.EncodingId, call.Header.RequestHandle, StatusCodes.Good);
        encoder.Write(count);
        bool hasSourceTime = timestamps is TimestampsToReturn.Both or TimestampsToReturn.Source;
        long now = timestamps is TimestampsToReturn.Both or TimestampsToReturn.Server
            ? UaTime.ToWire(call.Server.Time.GetUtcNow().UtcTicks)
            : 0;
        int largest = call.Channel.LargestResponse;
        var budget = new PartBudget();
        for (int i = 0; i < count && encoder.Length <= largest; i++)
        {
            ReadNext(call, ref decoder, ref budget, out DataValue value);
            encoder.WriteDataValue(value, hasSourceTime ? UaTime.ToWire(value.SourceTimestamp) : 0, now);
        }

        // No diagnostics.
        encoder.Write(-1);
        encoder.Complete();
    }

    private static void ReadNext(in ServiceCall call, ref BinaryDecoder decoder, ref PartBudget budget, out DataValue value)
    {
        if (!decoder.TryReadValueId(out byte index, out ushort number))
        {
            ReadAttribute(call, decoder.ReadStructure<ReadValueId>(), ref budget, out value);
        }
        else if (call.Server.AddressSpace.Find(new NodeId(index, number)) is VariableNode variable)
        {
            ReadValue(call, variable, out value);
        }
        else
        {
            var item = new ReadValueId { NodeId = new NodeId(index, number), AttributeId = (uint)AttributeId.Value };
            ReadAttribute(call, item, ref budget, out value);
        }
    }

    private static void ReadAttribute(in ServiceCall call, in ReadValueId item, ref PartBudget budget, out DataValue value)
    {
        if (Find(call.Server.AddressSpace, item, out Node? node) is { } refused)
        {
            value = new DataValue(default, refused);
            return;
        }

        var variable = node as VariableNode;
        if (item.AttributeId == (uint)AttributeId.Value && variable is not null)
        {
            ReadValue(call, variable, out value);
        }
        else if (item.AttributeId == (uint)AttributeId.UserAccessLevel && variable is not null)
        {
            value = new DataValue(variable.AccessLevelOf(
                call.Allows(variable, isWrite: false, isAttempt: false), call.Allows(variable, isWrite: true, isAttempt: false)));
        }
        else
        {
            value = node!.TryReadAttribute((AttributeId)item.AttributeId, out Variant attribute)
                ? new DataValue(attribute)
                : new DataValue(default, StatusCodes.BadAttributeIdInvalid);
        }

        if (item.IndexRange is { Length: > 0 } text)
        {
            value = !NumericRange.TryParse(text, out NumericRange range) ? new DataValue(default, StatusCodes.BadIndexRangeInvalid)
                : !budget.TryRead(value.Value, range) ? new DataValue(default, StatusCodes.BadTooManyOperations)
                : SelectPart(value, range);
        }
    }

    private static void ReadValue(in ServiceCall call, VariableNode variable, out DataValue value)
    {
        if (!call.Allows(variable, isWrite: false))
        {
            value = VariableNode.Denied;
        }
        else if (variable.OnRead is null)
        {
            variable.Read(out value);
        }
        else
        {
            ReadCalled(call, variable, out value);
        }
    }

    // An exception of the application affects this node alone.
    private static void ReadCalled(in ServiceCall call, VariableNode variable, out DataValue value)
    {
        try
        {
            variable.Read(out value);
        }
        catch (Exception e)
        {
            if (call.Server.MayWarn())
            {
                ServerLog.ReadThrew(call.Server.Logger, e, variable.Id);
            }

            value = new DataValue(default, StatusCodes.BadInternalError);
        }
    }

    /// <summary>The part of a value that an index range selects. A value that is bad as a whole stays so.</summary>
    public static DataValue SelectPart(in DataValue value, in NumericRange range)
    {
        if (value.Status.IsBad && value.Value.IsNull)
        {
            return value;
        }

        StatusCode status = range.Select(value.Value, out Variant part);
        return status.IsGood ? value with { Value = part } : new DataValue(default, status);
    }

    /// <summary>Finds the node of an attribute. Returns why it cannot be read as requested; null if it can.</summary>
    public static StatusCode? Find(AddressSpace space, in ReadValueId item, out Node? node)
    {
        node = space.Find(item.NodeId);
        return node is null ? StatusCodes.BadNodeIdUnknown
            : item.DataEncoding.Name is not { Length: > 0 } ? null
            : item.AttributeId != (uint)AttributeId.Value
                || node is VariableNode { Type: not (BuiltInType.ExtensionObject or BuiltInType.Null) } ? StatusCodes.BadDataEncodingInvalid
            : item.DataEncoding != new QualifiedName(0, "Default Binary") ? StatusCodes.BadDataEncodingUnsupported
            : null;
    }

    /// <summary>
    /// A value with the requested times; the server's time is the current time. Attributes other than Value have no source timestamp.
    /// </summary>
    public static DataValue Stamp(in DataValue value, TimestampsToReturn timestamps, DateTime now) => timestamps switch
    {
        TimestampsToReturn.Both => value with { ServerTimestamp = now, ServerPicoseconds = 0 },
        TimestampsToReturn.Source => value with { ServerTimestamp = default, ServerPicoseconds = 0 },
        TimestampsToReturn.Server =>
            value with { SourceTimestamp = default, SourcePicoseconds = 0, ServerTimestamp = now, ServerPicoseconds = 0 },
        _ => value with { SourceTimestamp = default, SourcePicoseconds = 0, ServerTimestamp = default, ServerPicoseconds = 0 },
    };

    private static StatusCode WriteAttribute(
        in ServiceCall call, in WriteValue item, ref PartBudget budget, DateTime now, int place, ref HandledWrites? handled)
    {
        if (call.Server.AddressSpace.Find(item.NodeId) is not { } node)
        {
            return StatusCodes.BadNodeIdUnknown;
        }

        if (item.AttributeId != (uint)AttributeId.Value)
        {
            return node.TryReadAttribute((AttributeId)item.AttributeId, out _)
                ? StatusCodes.BadNotWritable
                : StatusCodes.BadAttributeIdInvalid;
        }

        if (node is not VariableNode variable)
        {
            return StatusCodes.BadAttributeIdInvalid;
        }

        if (!call.Allows(variable, isWrite: true))
        {
            return StatusCodes.BadUserAccessDenied;
        }

        if (!variable.IsWritable)
        {
            return StatusCodes.BadNotWritable;
        }

        if (item.Value.Value.IsNull && item.Value.Status == StatusCodes.BadDecodingError)
        {
            // The decoder's status: the other values of the request are written.
            return StatusCodes.BadDecodingError;
        }

        DataValue value = item.Value.SourceTimestamp == default ? item.Value with { SourceTimestamp = now } : item.Value;
        if (variable.Type == BuiltInType.Byte && variable.ValueRank != -1)
        {
            value = value with { Value = value.Value.BytesAsArray() };
        }

        bool isPart = item.IndexRange is { Length: > 0 };
        if (value.Value.IsNull || !(isPart ? variable.AcceptsPart(value.Value) : variable.Accepts(value.Value)))
        {
            return StatusCodes.BadTypeMismatch;
        }

        if (variable.OnWrite is { } handler)
        {
            // The whole value of the part is not known here (OPC 10000-4, 5.11.4.2).
            if (isPart)
            {
                return StatusCodes.BadWriteNotSupported;
            }

            (handled ??= new HandledWrites()).Add(handler, variable, value, place);
            return StatusCodes.Good;
        }

        if (isPart)
        {
            return NumericRange.TryParse(item.IndexRange, out NumericRange range)
                ? variable.SetPart(range, value, ref budget)
                : StatusCodes.BadIndexRangeInvalid;
        }

        return variable.TrySet(value, ref budget) ? StatusCodes.Good : StatusCodes.BadTooManyOperations;
    }
}
