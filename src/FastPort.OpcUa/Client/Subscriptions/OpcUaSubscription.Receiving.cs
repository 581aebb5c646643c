using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>
/// Notification messages: their order, and those that are missing. All of it belongs to the one task that publishes, or brings the
/// subscription back after a loss.
/// </content>
public sealed partial class OpcUaSubscription
{
    // Maximum number of consecutive Republish requests: more than a server keeps. A server that always has another message must not be
    // asked forever.
    private const int MostMissed = 10_000;

    // The expected sequence number of the next message with notifications.
    private uint _next = 1;

    /// <summary>Handles the response to a Publish request.</summary>
    /// <param name="link">The session that it came on.</param>
    /// <param name="response">The response.</param>
    /// <param name="received">Receives the messages that the server need not keep.</param>
    /// <param name="publisher">Is notified when the reader has caught up.</param>
    /// <param name="cancellationToken">Cancels the call: missing messages are requested on the next connection.</param>
    /// <returns>Good, or the reason why the subscription has ended at the server.</returns>
    internal async ValueTask<StatusCode> ReceiveAsync(
        SessionLink link, PublishResponse response, Queue<SubscriptionAcknowledgement> received, Publisher publisher,
        CancellationToken cancellationToken)
    {
        NotificationMessage message = response.NotificationMessage;
        uint number = message.SequenceNumber;
        bool isKeepAlive = message.NotificationData is not { Length: > 0 };
        if (IsBefore(_next, number))
        {
            uint[] available = response.AvailableSequenceNumbers ?? [];
            if (!await TryFillGapAsync(link, number, available, received, publisher, cancellationToken).ConfigureAwait(false))
            {
                // Missing messages, including this one, are requested on the next connection.
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

    /// <summary>Requests the messages that the server has sent and that have not arrived, until there are no more.</summary>
    /// <param name="link">The session.</param>
    /// <param name="received">Receives the messages that the server need not keep.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>Good if the server has the subscription; otherwise the reason why not, or its other answer.</returns>
    /// <exception cref="OpcUaException">No answer came, or the server does not know the session.</exception>
    internal async ValueTask<StatusCode> CatchUpAsync(
        SessionLink link, Queue<SubscriptionAcknowledgement> received, CancellationToken cancellationToken)
    {
        // Whether messages are left, for a slow reader or one that has missed very many, shows when the next message arrives.
        for (int i = 0; i < MostMissed && !IsFull; i++)
        {
            ServiceResult<RepublishResponse> result = await RepublishAsync(link, _next, cancellationToken).ConfigureAwait(false);
            (StatusCode status, NotificationMessage message) = (result.Status, result.Response.NotificationMessage);
            if (result.Fate != RequestFate.Answered || SessionLink.IsSessionLost(status))
            {
                throw ServiceFailure.Create(status, "Republish", _client.EndpointUrl, result.Fate);
            }

            if (status == StatusCodes.BadMessageNotAvailable)
            {
                break;
            }

            if (status.IsBad)
            {
                return status;
            }

            if (message.SequenceNumber != _next || message.NotificationData is not { Length: > 0 })
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

    // False if the server no longer answers: the connection has ended, or the keep-alive ends it.
    private async ValueTask<bool> TryFillGapAsync(
        SessionLink link, uint until, uint[] available, Queue<SubscriptionAcknowledgement> received, Publisher publisher,
        CancellationToken cancellationToken)
    {
        uint first = _next;
        long missing = until - first - (until < first ? 1 : 0);
        IEnumerable<uint> kept = available.Where(n => !IsBefore(n, first) && IsBefore(n, until)).Take(MostMissed).Distinct();
        foreach (uint number in kept.OrderBy(n => n - first))
        {
            if (!await publisher.WaitForRoomAsync(this, cancellationToken).ConfigureAwait(false))
            {
                return false;
            }

            ServiceResult<RepublishResponse> result = await RepublishAsync(link, number, cancellationToken).ConfigureAwait(false);
            if (result.Fate != RequestFate.Answered)
            {
                return false;
            }

            if (result.Status.IsGood)
            {
                missing--;
                Take(link, result.Response.NotificationMessage with { SequenceNumber = number }, received);
                RaiseReported();
            }
        }

        if (missing > 0)
        {
            ClientLog.MessagesLost(_client.Logger, _client.EndpointUrl, Id, missing);
            RaiseValuesLost(StatusCodes.BadMessageNotAvailable);
        }

        return true;
    }

    private ValueTask<ServiceResult<RepublishResponse>> RepublishAsync(
        SessionLink link, uint number, CancellationToken cancellationToken) =>
        link.SendOnceAsync<RepublishRequest, RepublishResponse>(
            new RepublishRequest { SubscriptionId = Id, RetransmitSequenceNumber = number }, cancellationToken);

    private StatusCode Acknowledge(uint number, Queue<SubscriptionAcknowledgement> received)
    {
        received.Enqueue(new SubscriptionAcknowledgement { SubscriptionId = Id, SequenceNumber = number });
        return StatusCodes.Good;
    }

    // Passes the changes to the reader. Good, or the status with which the server has ended the subscription.
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
                MonitoredItemNotification[] changes = decoder.ReadStructure<DataChangeNotification>().MonitoredItems ?? [];
                Take(changes);
                TellUndecodable(decoder, changes);
            }
            else if (type.Number == EventNotificationList.EncodingIdNumber)
            {
                Take(decoder.ReadStructure<EventNotificationList>());
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

    // After a value whose end cannot be found, no other value can be read.
    private void TellUndecodable(in BinaryDecoder decoder, MonitoredItemNotification[] changes)
    {
        MonitoredItemNotification[] bad = decoder.InvalidValues == 0
            ? []
            : Array.FindAll(changes, static one => one.Value.Status == StatusCodes.BadDecodingError);
        if (bad.Length != 0 || !decoder.Error.IsGood)
        {
            OpcUaMonitoredItem? item = bad.Length == 0 ? null : _items.GetValueOrDefault(bad[0].ClientHandle);
            _client.TellUndecodable(item is null ? $"an item of subscription {Id}" : $"{item.Options.Node}");
        }
    }

    private void Take(MonitoredItemNotification[] changes)
    {
        foreach (ref MonitoredItemNotification change in changes.AsSpan())
        {
            // A removed item may still have values in transit.
            if (_items.TryGetValue(change.ClientHandle, out OpcUaMonitoredItem? item))
            {
                _changes.Write(new DataChange(item, change.Value));
            }
        }
    }
}
