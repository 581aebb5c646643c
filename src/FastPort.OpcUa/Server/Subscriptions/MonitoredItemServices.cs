using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>The services of monitored items (OPC 10000-4, 5.13).</summary>
internal static class MonitoredItemServices
{
    private static readonly EncodingLimits FilterLimits = EncodingLimits.Default;

    public static void Create(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CreateMonitoredItemsRequest request = decoder.ReadStructure<CreateMonitoredItemsRequest>();
        int count = request.ItemsToCreate?.Length ?? 0;
        if (Find(call, decoder.Error, request.SubscriptionId, count, request.TimestampsToReturn) is not { } subscription)
        {
            return;
        }

        var results = new MonitoredItemCreateResult[count];
        var budget = new PartBudget();
        for (int i = 0; i < count; i++)
        {
            results[i] = Create(call, subscription, request.ItemsToCreate![i], request.TimestampsToReturn, ref budget);
        }

        call.Reply(new CreateMonitoredItemsResponse { Results = results });
    }

    public static void Modify(in ServiceCall call, ref BinaryDecoder decoder)
    {
        ModifyMonitoredItemsRequest request = decoder.ReadStructure<ModifyMonitoredItemsRequest>();
        int count = request.ItemsToModify?.Length ?? 0;
        if (Find(call, decoder.Error, request.SubscriptionId, count, request.TimestampsToReturn) is not { } subscription)
        {
            return;
        }

        var results = new MonitoredItemModifyResult[count];
        for (int i = 0; i < count; i++)
        {
            MonitoredItemModifyRequest wish = request.ItemsToModify![i];
            results[i] = subscription.FindItem(wish.MonitoredItemId) is { } item
                ? Modify(call, subscription, item, wish.RequestedParameters, request.TimestampsToReturn)
                : new MonitoredItemModifyResult { StatusCode = StatusCodes.BadMonitoredItemIdInvalid };
        }

        call.Reply(new ModifyMonitoredItemsResponse { Results = results });
    }

    public static void SetMode(in ServiceCall call, ref BinaryDecoder decoder)
    {
        SetMonitoringModeRequest request = decoder.ReadStructure<SetMonitoringModeRequest>();
        int count = request.MonitoredItemIds?.Length ?? 0;
        if (Find(call, decoder.Error, request.SubscriptionId, count) is not { } subscription)
        {
            return;
        }

        if (!IsValid(request.MonitoringMode))
        {
            call.Fault(StatusCodes.BadMonitoringModeInvalid);
            return;
        }

        var results = new StatusCode[count];
        var budget = new PartBudget();
        for (int i = 0; i < count; i++)
        {
            if (subscription.FindItem(request.MonitoredItemIds![i]) is not { } item)
            {
                results[i] = StatusCodes.BadMonitoredItemIdInvalid;
            }
            else if (item.Mode == MonitoringMode.Disabled && !MayRead(item.Node, item.Part, ref budget))
            {
                results[i] = StatusCodes.BadTooManyOperations;
            }
            else
            {
                subscription.SetMode(item, request.MonitoringMode);
            }
        }

        call.Reply(new SetMonitoringModeResponse { Results = results });
    }

    public static void SetTriggering(in ServiceCall call, ref BinaryDecoder decoder)
    {
        SetTriggeringRequest request = decoder.ReadStructure<SetTriggeringRequest>();
        uint[] add = request.LinksToAdd ?? [];
        uint[] remove = request.LinksToRemove ?? [];
        if (Find(call, decoder.Error, request.SubscriptionId, add.Length + remove.Length) is not { } subscription)
        {
            return;
        }

        if (subscription.FindItem(request.TriggeringItemId) is not { } triggering)
        {
            call.Fault(StatusCodes.BadMonitoredItemIdInvalid);
            return;
        }

        // Links are removed before others are added (OPC 10000-4, 5.13.5.2).
        StatusCode[] removed = [.. remove.Select(id => subscription.RemoveLink(triggering, id))];
        StatusCode[] added = [.. add.Select(id => subscription.AddLink(triggering, id))];
        call.Reply(new SetTriggeringResponse { AddResults = added, RemoveResults = removed });
    }

    public static void Delete(in ServiceCall call, ref BinaryDecoder decoder)
    {
        DeleteMonitoredItemsRequest request = decoder.ReadStructure<DeleteMonitoredItemsRequest>();
        int count = request.MonitoredItemIds?.Length ?? 0;
        if (Find(call, decoder.Error, request.SubscriptionId, count) is not { } subscription)
        {
            return;
        }

        var results = new StatusCode[count];
        for (int i = 0; i < count; i++)
        {
            if (subscription.FindItem(request.MonitoredItemIds![i]) is not { } item)
            {
                results[i] = StatusCodes.BadMonitoredItemIdInvalid;
                continue;
            }

            subscription.RemoveItem(item);
        }

        call.Reply(new DeleteMonitoredItemsResponse { Results = results });
    }

    private static MonitoredItemCreateResult Create(
        in ServiceCall call, Subscription subscription, in MonitoredItemCreateRequest request, TimestampsToReturn timestamps,
        ref PartBudget budget)
    {
        var attribute = (AttributeId)request.ItemToMonitor.AttributeId;
        StatusCode status = Check(call, request, out Node? node, out NumericRange? range);
        if (status.IsGood && !MayRead(node!, range, ref budget))
        {
            status = StatusCodes.BadTooManyOperations;
        }

        if (status.IsGood)
        {
            status = DataFilter.TryRead(request.RequestedParameters.Filter, node!, attribute, FilterLimits, out DataFilter filter);
            if (status.IsGood)
            {
                MonitoredItem item = subscription.AddItem(node!, attribute, range);
                (TimeSpan interval, int size) = Configure(call, subscription, item, request.RequestedParameters, filter, timestamps);
                subscription.SetMode(item, request.MonitoringMode);
                return new MonitoredItemCreateResult
                {
                    MonitoredItemId = item.Id,
                    RevisedSamplingInterval = interval.TotalMilliseconds,
                    RevisedQueueSize = (uint)size,
                };
            }
        }

        return new MonitoredItemCreateResult { StatusCode = status };
    }

    private static StatusCode Check(
        in ServiceCall call, in MonitoredItemCreateRequest request, out Node? node, out NumericRange? range)
    {
        range = null;
        if (AttributeServices.Find(call.Server.AddressSpace, request.ItemToMonitor, out node) is { } refused)
        {
            return refused;
        }

        var attribute = (AttributeId)request.ItemToMonitor.AttributeId;
        bool hasAttribute = attribute == AttributeId.Value
            ? node is VariableNode
            : attribute != AttributeId.EventNotifier && node!.TryReadAttribute(attribute, out _);
        if (request.ItemToMonitor.IndexRange is { Length: > 0 } text)
        {
            if (!NumericRange.TryParse(text, out NumericRange parsed))
            {
                return StatusCodes.BadIndexRangeInvalid;
            }

            range = parsed;
        }

        return !hasAttribute ? StatusCodes.BadAttributeIdInvalid
            : !IsValid(request.MonitoringMode) ? StatusCodes.BadMonitoringModeInvalid
            : call.Session!.Subscriptions.ItemCount >= call.Server.Options.MaxMonitoredItemsPerSession
                || (!call.Session.Subscriptions.HasRoomBeside(0) && (range is not null || HasLargeValue(node!, attribute)))
                ? StatusCodes.BadTooManyMonitoredItems
            : StatusCodes.Good;
    }

    private static bool HasLargeValue(Node node, AttributeId attribute) =>
        attribute == AttributeId.Value && node is VariableNode { OnRead: null } variable && MonitoredItem.IsLarge(variable.StoredBytes);

    private static MonitoredItemModifyResult Modify(
        in ServiceCall call, Subscription subscription, MonitoredItem item, in MonitoringParameters wish, TimestampsToReturn timestamps)
    {
        StatusCode status = DataFilter.TryRead(wish.Filter, item.Node, item.Attribute, FilterLimits, out DataFilter filter);
        if (!status.IsGood)
        {
            return new MonitoredItemModifyResult { StatusCode = status };
        }

        (TimeSpan interval, int size) = Configure(call, subscription, item, wish, filter, timestamps);
        subscription.UpdatePolling(item);
        return new MonitoredItemModifyResult { RevisedSamplingInterval = interval.TotalMilliseconds, RevisedQueueSize = (uint)size };
    }

    // A negative sampling interval is the publishing interval (OPC 10000-4, 7.21); so is NaN.
    private static (TimeSpan Interval, int QueueSize) Configure(
        in ServiceCall call, Subscription subscription, MonitoredItem item, in MonitoringParameters wish, in DataFilter filter,
        TimestampsToReturn timestamps)
    {
        OpcUaServerOptions options = call.Server.Options;
        TimeSpan interval = wish.SamplingInterval >= 0
            ? TimeSpan.FromMilliseconds(Math.Min(wish.SamplingInterval, options.MaxSubscriptionLifetime.TotalMilliseconds))
            : subscription.Interval;
        if (item.IsPolled && interval < SubscriptionTerms.ShortestInterval(options))
        {
            interval = SubscriptionTerms.ShortestInterval(options);
        }

        int size = call.Session!.Subscriptions.ReserveQueue(item.QueueSize, wish.QueueSize);
        item.Configure(wish.ClientHandle, timestamps, filter, interval, size, wish.DiscardOldest);
        return (interval, size);
    }

    // An item begins with the current value. A part of a string is searched for from its beginning.
    private static bool MayRead(Node node, NumericRange? range, ref PartBudget budget) =>
        range is not { } part || node is not VariableNode { OnRead: null } variable || budget.TryRead(variable.Value.Value, part);

    private static bool IsValid(MonitoringMode mode) => (uint)mode <= (uint)MonitoringMode.Reporting;

    // The subscription of a request; null if the request was answered with a fault.
    private static Subscription? Find(
        in ServiceCall call, StatusCode decoding, uint id, int count, TimestampsToReturn timestamps = TimestampsToReturn.Both)
    {
        StatusCode? refused = !decoding.IsGood ? decoding
            : count == 0 ? StatusCodes.BadNothingToDo
            : count > call.Server.Options.MaxMonitoredItemsPerCall ? StatusCodes.BadTooManyOperations
            : (uint)timestamps > (uint)TimestampsToReturn.Neither ? StatusCodes.BadTimestampsToReturnInvalid
            : null;
        if (refused is { } status)
        {
            call.Fault(status);
            return null;
        }

        Subscription? subscription = SubscriptionServices.Find(call, decoding, id);
        subscription?.ResetLifetime();
        return subscription;
    }
}
