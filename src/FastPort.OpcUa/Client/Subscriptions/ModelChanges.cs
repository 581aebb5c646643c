using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>Which events an item is for.</summary>
internal enum EventSelection
{
    /// <summary>None: it is for values.</summary>
    None,

    /// <summary>All of them: the server does not select.</summary>
    All,

    /// <summary>Changes of the model, which the server selects.</summary>
    ModelChanges,
}

/// <summary>The events with which a server reports that its nodes have changed (OPC 10000-3, 9.32).</summary>
internal static class ModelChanges
{
    // Number of events of a publishing interval, if the server does not select. If there are more, it sends an overflow instead.
    private const uint QueueSize = 100;

    private static readonly NodeId Server = new(0, 2253);
    private static readonly NodeId BaseEventType = new(0, 2041);
    private static readonly NodeId BaseModelChangeEventType = new(0, 2132);
    private static readonly NodeId GeneralModelChangeEventType = new(0, 2133);
    private static readonly NodeId EventQueueOverflowEventType = new(0, 3035);

    /// <summary>An item of the Server object, which has the events of all nodes.</summary>
    public static MonitoredItemOptions ItemOf(EventSelection events) => new(Server)
    {
        Attribute = AttributeId.EventNotifier,
        SamplingInterval = TimeSpan.Zero,
        QueueSize = QueueSize,
        Events = events,
    };

    /// <summary>The filter of such an item: of each event it has the type.</summary>
    public static ExtensionObject FilterOf(EventSelection events) => new EventFilter
    {
        SelectClauses =
        [
            new SimpleAttributeOperand
            {
                TypeDefinitionId = BaseEventType,
                BrowsePath = [new QualifiedName(0, "EventType")],
                AttributeId = (uint)AttributeId.Value,
            },
        ],
        WhereClause = events == EventSelection.All
            ? []
            :
            [
                new ContentFilterElement
                {
                    FilterOperator = ContentFilterElement.OfType,
                    FilterOperands = [new LiteralOperand { Value = Variant.From(BaseModelChangeEventType) }.ToExtensionObject()],
                },
            ],
    }.ToExtensionObject();

    /// <summary>Whether an event of such an item means that nodes have changed, or replaces events that may mean it.</summary>
    public static bool IsOne(EventSelection events, in EventFieldList found) =>
        events == EventSelection.ModelChanges
        || (found.EventFields is [var field, ..] && field.TryGet(out NodeId type)
            && (type == BaseModelChangeEventType || type == GeneralModelChangeEventType || type == EventQueueOverflowEventType));
}
