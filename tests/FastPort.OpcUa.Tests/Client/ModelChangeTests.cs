using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>A server that says when its nodes have changed.</summary>
public sealed class ModelChangeTests : IAsyncLifetime
{
    private static readonly NodeId GeneralModelChange = new(0, 2133);
    private static readonly NodeId QueueOverflow = new(0, 3035);
    private static readonly NodeId Alarm = new(0, 2915);
    private static readonly StatusCode EventFilterInvalid = new(0x8047_0000);

    private readonly ScriptedServer _server = new();
    private ScriptedSubscription _script = null!;
    private OpcUaClient _client = null!;
    private OpcUaSubscription _subscription = null!;
    private int _changes;

    public async ValueTask InitializeAsync()
    {
        _script = new ScriptedSubscription(_server);
        _client = await _server.ConnectAsync();
        _subscription = await _client.SubscribeAsync();
        _subscription.ModelChanged += _ => Interlocked.Increment(ref _changes);
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Changes_are_asked_for_as_events_of_the_Server_object_and_told_once_a_message()
    {
        Assert.Equal(StatusCodes.Good, await _subscription.WatchModelAsync());
        Assert.Equal(StatusCodes.Good, await _subscription.WatchModelAsync());

        MonitoredItemCreateRequest item = Assert.Single(Assert.Single(_script.Created).ItemsToCreate!);
        Assert.Equal((new NodeId(0, 2253), 12u), (item.ItemToMonitor.NodeId, item.ItemToMonitor.AttributeId));
        EventFilter filter = FilterOf(item);
        SimpleAttributeOperand field = Assert.Single(filter.SelectClauses!);
        Assert.Equal(
            (new NodeId(0, 2041), new QualifiedName(0, "EventType"), 13u),
            (field.TypeDefinitionId, Assert.Single(field.BrowsePath!), field.AttributeId));
        ContentFilterElement condition = Assert.Single(filter.WhereClause!);
        Assert.Equal(14u, condition.FilterOperator);
        ExtensionObject operand = Assert.Single(condition.FilterOperands!)!;
        Assert.Equal(new NodeId(0, 597), operand.TypeId.NodeId);
        Assert.Equal(new NodeId(0, 2132), Decode<LiteralOperand>(operand).Value.Get<NodeId>());

        // Also a type of the server's own, as it has selected it.
        await TellAsync(1, item, GeneralModelChange, new NodeId(1, 4711));
        Assert.Equal(1, _changes);

        // The item is the subscription's own.
        Assert.Empty(_subscription.Items);
    }

    [Fact]
    public async Task Where_the_server_takes_no_conditions_other_events_are_left_out()
    {
        List<MonitoredItemCreateRequest> asked = [];
        _server.On<CreateMonitoredItemsRequest>(call =>
        {
            MonitoredItemCreateRequest item = call.Request<CreateMonitoredItemsRequest>().ItemsToCreate![0];
            asked.Add(item);
            StatusCode status = FilterOf(item).WhereClause!.Length == 0 ? StatusCodes.Good : EventFilterInvalid;
            return call.ReplyAsync(new CreateMonitoredItemsResponse
            {
                Results = [new MonitoredItemCreateResult { StatusCode = status, MonitoredItemId = 7 }],
            });
        });

        Assert.Equal(StatusCodes.Good, await _subscription.WatchModelAsync());

        await TellAsync(1, asked[1], Alarm);
        Assert.Equal(0, _changes);
        await TellAsync(2, asked[1], Alarm, GeneralModelChange);
        Assert.Equal(1, _changes);
        await TellAsync(3, asked[1], QueueOverflow);
        Assert.Equal(2, _changes);
    }

    [Fact]
    public async Task A_server_without_events_says_why()
    {
        _server.On<CreateMonitoredItemsRequest>(static call => call.ReplyAsync(new CreateMonitoredItemsResponse
        {
            Results = [new MonitoredItemCreateResult { StatusCode = StatusCodes.BadAttributeIdInvalid }],
        }));

        Assert.Equal(StatusCodes.BadAttributeIdInvalid, await _subscription.WatchModelAsync());
    }

    [Fact]
    public async Task They_are_told_also_when_the_subscription_was_made_again()
    {
        await _subscription.WatchModelAsync();
        await _subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]);
        var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _subscription.ValuesLost += (_, _) => lost.TrySetResult();

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await lost.Task.InTimeAsync();

        MonitoredItemCreateRequest item = _script.Created.Last().ItemsToCreate![0];
        Assert.Equal(new NodeId(0, 2253), item.ItemToMonitor.NodeId);
        await TellAsync(1, item, GeneralModelChange);
        Assert.Equal(1, _changes);

        // Nobody reads what is said of an item that nobody has.
        Assert.False(_subscription.Changes.TryRead(out _));
    }

    private static EventFilter FilterOf(in MonitoredItemCreateRequest item)
    {
        ExtensionObject filter = item.RequestedParameters.Filter!;
        Assert.Equal(new NodeId(0, 727), filter.TypeId.NodeId);
        return Decode<EventFilter>(filter);
    }

    private static T Decode<T>(ExtensionObject structure)
        where T : struct, IServiceMessage =>
        new BinaryDecoder(structure.Body.Span, EncodingLimits.Default).ReadStructure<T>();

    // Returns when the client has taken the message.
    private async Task TellAsync(uint number, MonitoredItemCreateRequest item, params NodeId[] types)
    {
        var reported = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Action<OpcUaSubscription> onReported = _ => reported.TrySetResult();
        _subscription.Reported += onReported;
        await _script.PublishAsync(new NotificationMessage
        {
            SequenceNumber = number,
            NotificationData =
            [
                new EventNotificationList
                {
                    Events =
                    [
                        .. types.Select(type => new EventFieldList
                        {
                            ClientHandle = item.RequestedParameters.ClientHandle,
                            EventFields = [Variant.From(type)],
                        }),
                    ],
                }.ToExtensionObject(),
            ],
        });
        await reported.Task.InTimeAsync();
        _subscription.Reported -= onReported;
    }
}
