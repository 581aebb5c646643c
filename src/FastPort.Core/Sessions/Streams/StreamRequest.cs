using FastPort.Framing;

namespace FastPort.Sessions.Streams;

/// <summary>The requests of a call that streams.</summary>
internal abstract class StreamRequest
{
    /// <summary>The request's name for traces; null for none.</summary>
    public virtual string? Name => null;

    /// <summary>Bytes of the body of the request that opens the call.</summary>
    public abstract int Size { get; }

    /// <summary>Whether the requests are a stream.</summary>
    public abstract bool IsStream { get; }

    /// <inheritdoc cref="Requests.OutgoingRequests.TryOpen"/>
    public abstract SendStatus TryOpen(
        Session session, ushort type, in CreditBody grant, StreamReply reply, TimeSpan left, out uint correlation);

    /// <inheritdoc cref="StreamPump.RunAsync"/>
    public abstract Task<bool> SendAsync(ItemWriter writer, CancellationToken cancellationToken);
}

/// <summary>One request, whose replies are a stream.</summary>
internal sealed class OneRequest<TBody>(TBody body) : StreamRequest
    where TBody : IFrameBody
{
    public override string? Name => (body as INamedBody)?.Name;

    public override int Size => body.Size;

    public override bool IsStream => false;

    public override SendStatus TryOpen(
        Session session, ushort type, in CreditBody grant, StreamReply reply, TimeSpan left, out uint correlation) =>
        session.Protocol.Requests.TryOpen(type, FrameFlags.None, in body, grant, reply, left, out correlation);

    public override Task<bool> SendAsync(ItemWriter writer, CancellationToken cancellationToken) =>
        throw new InvalidOperationException("One request opens the call; no other follows.");
}

/// <summary>A stream of requests.</summary>
internal sealed class RequestItems<TItem, TBody>(IAsyncEnumerable<TItem> items, Func<TItem, TBody> encode) : StreamRequest
    where TBody : IFrameBody
{
    public override int Size => 0;

    public override bool IsStream => true;

    public override SendStatus TryOpen(
        Session session, ushort type, in CreditBody grant, StreamReply reply, TimeSpan left, out uint correlation) =>
        session.Protocol.Requests.TryOpen(type, FrameFlags.More, default(EmptyBody), grant, reply, left, out correlation);

    public override Task<bool> SendAsync(ItemWriter writer, CancellationToken cancellationToken) =>
        StreamPump.RunAsync(items, encode, writer, written: null, cancellationToken);
}
