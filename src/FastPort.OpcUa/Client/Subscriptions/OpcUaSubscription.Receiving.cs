using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>
/// Notification messages: their order, and those that are missing. All of it belongs to the one task that publishes, or brings the
/// subscription back after a loss.
/// </content>
public sealed partial class OpcUaSubscription
{
    // The sequence number that the next message with notifications has to have.
    private uint _next = 1;

    /// <summary>Takes what a Publish request has brought.</summary>
    /// <param name="link">The session that it came on.</param>
    /// <param name="response">The response.</param>
    /// <param name="received">Gets the messages that the server need not keep.</param>
    /// <returns>Good, or why the subscription has ended at the server.</returns>
    internal async ValueTask<StatusCode> ReceiveAsync(
        SessionLink link, PublishResponse response, Queue<SubscriptionAcknowledgement> received)
    {
        NotificationMessage message = response.NotificationMessage;
        uint number = message.SequenceNumber;
        bool isKeepAlive = message.NotificationData is not { Length: > 0 };
        if (IsBefore(_next, number))
        {
            if (!await TryFillGapAsync(link, number, response.AvailableSequenceNumbers ?? [], received).ConfigureAwait(false))
            {
                // What is missing is asked for on the next connection; this message too.
                return StatusCodes.Good;
            }

            _next = number;
        }

        // The number of a keep-alive is that of the next message. One that came before is only acknowledged.
        StatusCode status = isKeepAlive ? StatusCodes.Good
            : number == _next ? Take(link, message, received)
            : Acknowledge(number, received);
        RaiseReported();
        return status;
    }

    /// <summary>Asks for the messages that the server has sent, and that have not come, until there are no more.</summary>
    /// <returns>Good, or why the subscription has ended at the server.</returns>
    internal async ValueTask<StatusCode> CatchUpAsync(SessionLink link, Queue<SubscriptionAcknowledgement> received)
    {
        // A reader that is slow gets the rest with the next message.
        while (!IsFull)
        {
            ServiceResult<RepublishResponse> result = await RepublishAsync(link, _next).ConfigureAwait(false);
            (StatusCode status, NotificationMessage message) = (result.Status, result.Response.NotificationMessage);
            if (status == StatusCodes.BadSubscriptionIdInvalid || status == StatusCodes.BadNoSubscription)
            {
                return status;
            }

            if (status.IsBad || message.SequenceNumber != _next)
            {
                break;
            }

            StatusCode end = Take(link, message, received);
            RaiseReported();
            if (end.IsBad)
            {
                return end;
            }
        }

        return StatusCodes.Good;
    }

    // Sequence numbers go round, without 0.
    private static bool IsBefore(uint number, uint other) => (int)(number - other) < 0;

    // False if the server does not answer any more: the connection has ended, or is ended by the keep-alive.
    private async ValueTask<bool> TryFillGapAsync(
        SessionLink link, uint until, uint[] available, Queue<SubscriptionAcknowledgement> received)
    {
        uint first = _next;
        long missing = until - first - (until < first ? 1 : 0);
        foreach (uint number in available.Where(n => !IsBefore(n, first) && IsBefore(n, until)).OrderBy(n => n - first))
        {
            ServiceResult<RepublishResponse> result = await RepublishAsync(link, number).ConfigureAwait(false);
            if (result.Fate != RequestFate.Answered)
            {
                return false;
            }

            if (result.Status.IsGood)
            {
                missing--;
                Take(link, result.Response.NotificationMessage with { SequenceNumber = number }, received);
            }
        }

        if (missing > 0)
        {
            ClientLog.MessagesLost(_client.Logger, _client.EndpointUrl, Id, missing);
            RaiseValuesLost(StatusCodes.BadMessageNotAvailable);
        }

        return true;
    }

    private ValueTask<ServiceResult<RepublishResponse>> RepublishAsync(SessionLink link, uint number) =>
        link.SendOnceAsync<RepublishRequest, RepublishResponse>(
            new RepublishRequest { SubscriptionId = Id, RetransmitSequenceNumber = number }, CancellationToken.None);

    private StatusCode Acknowledge(uint number, Queue<SubscriptionAcknowledgement> received)
    {
        received.Enqueue(new SubscriptionAcknowledgement { SubscriptionId = Id, SequenceNumber = number });
        return StatusCodes.Good;
    }

    // Hands the changes to the reader. Good, or the status with which the server has ended the subscription.
    private StatusCode Take(SessionLink link, in NotificationMessage message, Queue<SubscriptionAcknowledgement> received)
    {
        Acknowledge(message.SequenceNumber, received);
        _next = message.SequenceNumber == uint.MaxValue ? 1 : message.SequenceNumber + 1;
        StatusCode end = StatusCodes.Good;
        foreach (ExtensionObject? data in message.NotificationData ?? [])
        {
            if (data is not { Encoding: ExtensionObjectEncoding.Binary, TypeId.NodeId: { NamespaceIndex: 0 } type })
            {
                continue;
            }

            var decoder = new BinaryDecoder(data.Body.Span, link.Channel.Limits);
            if (type.Number == DataChangeNotification.EncodingIdNumber)
            {
                Take(decoder.ReadStructure<DataChangeNotification>().MonitoredItems ?? []);
            }
            else if (type.Number == StatusChangeNotification.EncodingIdNumber)
            {
                end = decoder.ReadStructure<StatusChangeNotification>().Status;
            }

            if (!decoder.Error.IsGood)
            {
                RaiseValuesLost(decoder.Error);
            }
        }

        return end;
    }

    private void Take(MonitoredItemNotification[] changes)
    {
        foreach (ref MonitoredItemNotification change in changes.AsSpan())
        {
            // An item that was removed may still have had values on their way.
            if (_items.TryGetValue(change.ClientHandle, out OpcUaMonitoredItem? item))
            {
                _changes.Write(new DataChange(item, change.Value));
            }
        }
    }
}
