using System.Threading.Channels;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>
/// Subscriptions of a <see cref="ScriptedServer"/>: the test sends messages by hand, leaves some out, and looks at the requests.
/// </summary>
internal sealed class ScriptedSubscription
{
    private readonly Channel<ScriptedCall> _publishes = Channel.CreateUnbounded<ScriptedCall>();
    private readonly Channel<uint> _acknowledged = Channel.CreateUnbounded<uint>();
    private uint _lastItem = 100;

    public ScriptedSubscription(ScriptedServer server)
    {
        server.On<CreateSubscriptionRequest>(call =>
        {
            if (Refusals.TryDequeue(out StatusCode refusal))
            {
                return call.FaultAsync(refusal);
            }

            Id++;
            var request = call.Request<CreateSubscriptionRequest>();
            return call.ReplyAsync(new CreateSubscriptionResponse
            {
                SubscriptionId = Id,
                RevisedPublishingInterval = request.RequestedPublishingInterval,
                RevisedLifetimeCount = request.RequestedLifetimeCount,
                RevisedMaxKeepAliveCount = request.RequestedMaxKeepAliveCount,
            });
        });
        server.On<CreateMonitoredItemsRequest>(call =>
        {
            var request = call.Request<CreateMonitoredItemsRequest>();
            Created.Enqueue(request);
            return call.ReplyAsync(new CreateMonitoredItemsResponse
            {
                Results = [.. request.ItemsToCreate!.Select(_ => new MonitoredItemCreateResult { MonitoredItemId = ++_lastItem })],
            });
        });
        server.On<DeleteSubscriptionsRequest>(call =>
            call.ReplyAsync(new DeleteSubscriptionsResponse { Results = [StatusCodes.Good] }));
        server.On<PublishRequest>(call =>
        {
            foreach (SubscriptionAcknowledgement one in call.Request<PublishRequest>().SubscriptionAcknowledgements ?? [])
            {
                _acknowledged.Writer.TryWrite(one.SequenceNumber);
            }

            _publishes.Writer.TryWrite(call);
            return Task.CompletedTask;
        });
        server.On<RepublishRequest>(call =>
        {
            uint number = call.Request<RepublishRequest>().RetransmitSequenceNumber;
            Republished.Enqueue(number);
            return Kept.Remove(number, out NotificationMessage message)
                ? call.ReplyAsync(new RepublishResponse { NotificationMessage = message })
                : call.FaultAsync(RepublishFault);
        });
    }

    /// <summary>The id of the newest subscription; 0 before there is one.</summary>
    public uint Id { get; private set; }

    /// <summary>How the next requests for a subscription are refused; the others are served.</summary>
    public Queue<StatusCode> Refusals { get; } = new();

    /// <summary>Messages that can be had again.</summary>
    public Dictionary<uint, NotificationMessage> Kept { get; } = [];

    /// <summary>What Republish answers for others.</summary>
    public StatusCode RepublishFault { get; set; } = StatusCodes.BadMessageNotAvailable;

    /// <summary>The numbers that were asked for again.</summary>
    public Queue<uint> Republished { get; } = new();

    /// <summary>The requests for items.</summary>
    public Queue<CreateMonitoredItemsRequest> Created { get; } = new();

    /// <summary>A message with a value of an item.</summary>
    public static NotificationMessage Message(uint number, uint handle, int value) => new()
    {
        SequenceNumber = number,
        NotificationData =
        [
            new DataChangeNotification
            {
                MonitoredItems = [new MonitoredItemNotification { ClientHandle = handle, Value = new DataValue(value) }],
            }.ToExtensionObject(),
        ],
    };

    public static NotificationMessage StatusChange(uint number, StatusCode status) => new()
    {
        SequenceNumber = number,
        NotificationData = [new StatusChangeNotification { Status = status }.ToExtensionObject()],
    };

    /// <summary>The next Publish request.</summary>
    public ValueTask<ScriptedCall> NextPublishAsync() => _publishes.Reader.ReadAsync(Patience.Token);

    /// <summary>Publish requests that wait now.</summary>
    public int WaitingCount => _publishes.Reader.Count;

    public ValueTask<uint> NextAcknowledgedAsync() => _acknowledged.Reader.ReadAsync(Patience.Token);

    /// <summary>Answers the oldest Publish request.</summary>
    public async Task PublishAsync(NotificationMessage message, params uint[] available) =>
        await (await NextPublishAsync()).ReplyAsync(new PublishResponse
        {
            SubscriptionId = Id,
            AvailableSequenceNumbers = available,
            NotificationMessage = message,
        });
}
