using System.Buffers.Binary;
using FastPort.Framing;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Peers;
using FastPort.Redis.Topics;
using FastPort.Redis.Wire;
using FastPort.Routing;
using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis.Relaying;

/// <summary>
/// Handles the batches that arrive on this node's channel, one at a time. The channel may carry anything: a message that is not a batch of
/// a known node is counted and ignored.
/// </summary>
internal sealed class BatchReceiver(
    RelayTransport transport,
    LocationLookups lookups,
    ClaimDirectory directory,
    TargetQueues targets,
    Membership members,
    TopicExchange topics,
    PeerQuestions questions,
    IMessageRouter local,
    ILogger logger)
{
    // The messages for targets and senders of this many entries are flushed together.
    private const int EntriesOfGroup = 256;

    // Relays of the current group that wait for its flush to be confirmed, and the entries of the current batch.
    private readonly List<(ulong Correlation, ulong Origin)> _delivered = [];
    private int _relays;
    private int _publications;
    private bool _needsSeen;

    /// <summary>Handles one message of the channel.</summary>
    public async Task ReceiveAsync(ReadOnlyMemory<byte> message)
    {
        if (!BatchReader.TryOpen(message.Span, out BatchReader reader))
        {
            Refuse($"its {message.Length} bytes are not a batch of version {BatchBuffer.Version}");
            return;
        }

        ulong sender = reader.Sender;
        if (!members.Members.ContainsKey(sender))
        {
            // A node that has just joined, or an unknown instance.
            bool isKnown;
            try
            {
                isKnown = await members.IsAliveAsync(sender).ConfigureAwait(false);
            }
            catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException)
            {
                isKnown = false;
            }

            if (!isKnown)
            {
                Refuse($"its sender {Member.Format(sender)} has no lease");
                return;
            }
        }

        Handle(message.Span, transport.LinkTo(sender));
    }

    private void Handle(ReadOnlySpan<byte> message, NodeLink sender)
    {
        // Opened before.
        _ = BatchReader.TryOpen(message, out BatchReader reader);
        if (sender.IsRepeated(reader.Number))
        {
            // It was published again because Redis had counted no receiver. The confirmation may be lost.
            TellSeenAgain(reader, sender);
            return;
        }

        if (!sender.Receives(reader.Number))
        {
            topics.HaveMissed(sender.Instance);
        }

        _relays = _publications = 0;
        _needsSeen = false;
        while (!reader.IsAtEnd)
        {
            using (FlushGroup.Begin())
            {
                HandleSome(ref reader, sender);
            }

            // After the flush: if this process is killed now, confirmed messages have usually reached the kernel.
            ConfirmDelivered();
        }

        if (reader.IsTruncated)
        {
            Refuse($"a batch of {message.Length} bytes from node '{sender.Name}' ends within an entry");
        }

        if (_needsSeen)
        {
            transport.Counters.RelaysReceived(_relays);
            transport.Counters.PublicationsArrived(_publications);
            sender.TellSeen(reader.Number);
        }
    }

    private static void TellSeenAgain(BatchReader reader, NodeLink sender)
    {
        bool needsSeen = false;
        while (reader.Read())
        {
            needsSeen |= reader.Kind.NeedsSeen();
        }

        if (needsSeen)
        {
            sender.TellSeen(reader.Number);
        }
    }

    private void HandleSome(ref BatchReader reader, NodeLink sender)
    {
        for (int entries = 0; entries < EntriesOfGroup && reader.Read(); entries++)
        {
            _relays += reader.Kind == EntryKind.Relay ? 1 : 0;
            _publications += reader.Kind == EntryKind.Publish ? 1 : 0;
            _needsSeen |= reader.Kind.NeedsSeen();
            if (!TryHandle(reader.Kind, reader.Payload, sender))
            {
                Refuse($"an entry of kind {(byte)reader.Kind} with {reader.Payload.Length} bytes from node '{sender.Name}'");
            }
        }
    }

    private void ConfirmDelivered()
    {
        foreach ((ulong correlation, ulong origin) in _delivered)
        {
            transport.Settle(correlation, origin, default, SendStatus.Queued);
        }

        _delivered.Clear();
    }

    private bool TryHandle(EntryKind kind, ReadOnlySpan<byte> payload, NodeLink sender)
    {
        switch (kind)
        {
            case EntryKind.Relay when RelayEntry.TryRead(payload, out RelayEntry relay):
                Deliver(relay, sender);
                return true;
            case EntryKind.Confirmation when payload.Length >= 9:
                transport.Settle(
                    BinaryPrimitives.ReadUInt64LittleEndian(payload), transport.Self, default, ToStatus(payload[8]));
                return true;
            case EntryKind.Seen when payload.Length >= 8:
                sender.Seen(BinaryPrimitives.ReadUInt64LittleEndian(payload));
                return true;
            case EntryKind.Challenge when payload.Length > 16:
                bool keeps = directory.Keeps(payload[16..]);
                sender.Confirm(BinaryPrimitives.ReadUInt64LittleEndian(payload), keeps ? SendStatus.Queued : SendStatus.NotFound);
                return true;
            case EntryKind.TakenOver when payload.Length > 8:
                directory.TakenOver(payload[8..], BinaryPrimitives.ReadInt64LittleEndian(payload));
                return true;
            case EntryKind.Moved when payload.Length > 8:
                lookups.Forget(payload[8..], BinaryPrimitives.ReadInt64LittleEndian(payload));
                return true;
            case EntryKind.Publish when PublishEntry.TryRead(payload, out PublishEntry publication):
                Deliver(publication);
                return true;
            case EntryKind.PeerQuestion when payload.Length >= 8:
                return questions.TryReceive(sender, BinaryPrimitives.ReadInt64LittleEndian(payload), payload[8..]);
            case EntryKind.PeerAnswer when payload.Length >= 8:
                return questions.TryComplete(BinaryPrimitives.ReadInt64LittleEndian(payload), payload[8..]);
            case EntryKind.Leaving:
                // In this order: a location found in the meantime is not kept.
                sender.StopRelays();
                lookups.ForgetNode(sender.Instance);
                topics.NodeLeft(sender.Instance);
                return true;
            default:
                return kind.IsInterest() && topics.TryReceive(sender.Instance, kind, payload);
        }
    }

    private void Deliver(in RelayEntry relay, NodeLink sender)
    {
        if (directory.Find(relay.Id)?.Token != relay.Token)
        {
            sender.Tell(EntryKind.Moved, relay.Token, relay.Id);
            transport.Counters.RelayForwarded();
            lookups.Send(relay.Id.ToArray(), WaitingRelay.Copy(relay, moreHops: 1, transport.Now));
            return;
        }

        if (!members.IsValid)
        {
            // The id may belong to another node by now.
            transport.Settle(relay.Correlation, relay.Origin, relay.Id, SendStatus.Unavailable);
            return;
        }

        SendStatus status = targets.Waits(relay.Id)
            ? SendStatus.Full
            : local.TrySend(relay.Id, relay.Type, new RawBody(relay.Body));
        if (status == SendStatus.Full)
        {
            targets.Add(relay.Id.ToArray(), WaitingRelay.Copy(relay, moreHops: 0, transport.Now));
        }
        else if (status != SendStatus.Queued)
        {
            transport.Settle(relay.Correlation, relay.Origin, relay.Id, status);
        }
        else if (relay.Correlation != 0)
        {
            _delivered.Add((relay.Correlation, relay.Origin));
        }
    }

    // One encoding for all sessions here. In parts, if there are very many; this thread serves no connections, so it continues at once.
    private void Deliver(in PublishEntry publication)
    {
        var body = new RawBody(publication.Body);
        int next = 0;
        do
        {
            local.Publish(publication.Topic, publication.Audience, publication.Type, in body, ref next);
        }
        while (next != 0);
    }

    // A later version may have more of them.
    private static SendStatus ToStatus(byte status) =>
        status <= (byte)SendStatus.Unconfirmed ? (SendStatus)status : SendStatus.Unconfirmed;

    private void Refuse(string problem)
    {
        transport.Counters.NotUnderstood();
        BackplaneLog.NotUnderstood(logger, problem);
    }
}
