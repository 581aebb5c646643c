using FastPort.Framing;
using FastPort.Redis.Directory;
using FastPort.Routing;

namespace FastPort.Redis.Relaying;

/// <summary>Delivers to sessions of this server first, and sends the rest to the nodes of their targets.</summary>
internal sealed class BackplaneRouter(RedisBackplane backplane, IMessageRouter local) : IMessageRouter
{
    public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        SendStatus status = local.TrySend(routingId, type, in body);
        return status == SendStatus.NotFound ? Forward(routingId, type, in body, pending: null) : status;
    }

    public ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        SendStatus status = local.TrySend(routingId, type, in body);
        if (status != SendStatus.NotFound)
        {
            return new ValueTask<SendStatus>(status);
        }

        if (backplane.Running is not { Members.IsValid: true } running)
        {
            return new ValueTask<SendStatus>(SendStatus.Unavailable);
        }

        RelayTransport transport = running.Transport;
        PendingRelay pending = transport.Await();
        ValueTask<SendStatus> confirmed = pending.AsTask();
        ulong correlation = pending.Correlation;
        SendStatus sent;
        try
        {
            sent = Forward(routingId, type, in body, pending);
        }
        catch
        {
            transport.Settle(correlation, transport.Self, routingId, SendStatus.NotFound);
            _ = confirmed.Result;
            throw;
        }

        if (sent != SendStatus.Queued)
        {
            transport.Settle(correlation, transport.Self, routingId, sent);
        }

        return confirmed;
    }

    // A location that was known before the id came to this node stays known. A claim that is not granted yet does not count: the local
    // router then has no session to wait for.
    public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) =>
        backplane.Running is { } running && running.Directory.Find(routingId) is not { Token: not 0 }
        && running.Lookups.TryGet(routingId, out Location location)
            ? running.Transport.LinkTo(location.Instance).WhenRoomAsync().WaitAsync(cancellationToken)
            : local.WhenWritableAsync(routingId, cancellationToken);

    public int Publish<TBody>(
        scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
        where TBody : IFrameBody, allows ref struct
    {
        // Later calls for the same publication are for more sessions of this server.
        if (next == 0)
        {
            backplane.Running?.Topics.Publish(topic, audience, type, in body);
        }

        return local.Publish(topic, audience, type, in body, ref next);
    }

    private SendStatus Forward<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body, PendingRelay? pending)
        where TBody : IFrameBody, allows ref struct
    {
        ulong correlation = pending?.Correlation ?? 0;
        if (backplane.Running is not { Members.IsValid: true } running)
        {
            return SendStatus.Unavailable;
        }

        RelayTransport transport = running.Transport;
        LocationLookups lookups = running.Lookups;
        if (lookups.TryGet(routingId, out Location location))
        {
            SendStatus status = transport.LinkTo(location.Instance).TryRelay(
                pending, correlation, transport.Self, location.Token, type, hops: 0, routingId, in body);
            if (status != SendStatus.NotFound)
            {
                return status;
            }
        }

        int size = body.Size;
        if (size > NodeLink.MaxBodyBytes)
        {
            return SendStatus.TooLarge;
        }

        if (!lookups.HasRoom)
        {
            return SendStatus.Unavailable;
        }

        byte[] copy = new byte[size];
        body.Write(copy);
        lookups.Send(routingId.ToArray(), new WaitingRelay(correlation, transport.Self, type, 0, copy, transport.Now, pending));
        return SendStatus.Queued;
    }
}
