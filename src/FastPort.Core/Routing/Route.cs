using System.Text;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>
/// A cached lookup of one routing id, for code that sends to it often. The lookup is repeated only after the id was unused in between; a
/// take-over needs none. Costs nothing to keep. Thread-safe.
/// </summary>
public sealed class Route
{
    private readonly IdentityRegistry _identities;
    private readonly IMessageRouter _router;
    private readonly byte[] _utf8;
    private RoutingIdentity? _identity;

    internal Route(string routingId, IdentityRegistry identities, IMessageRouter router)
    {
        RoutingId = routingId;
        _identities = identities;
        _router = router;
        _utf8 = Encoding.UTF8.GetBytes(routingId);
    }

    /// <summary>The routing id of the target.</summary>
    public string RoutingId { get; }

    /// <summary>
    /// The session that has the id now; null if no session of this server has it. For batches (<see cref="Session.BeginBatch"/>), each of
    /// which belongs to one session: after a take-over the batch returns Closed; begin the next one on the new value of this property.
    /// </summary>
    public Session? Session
    {
        get
        {
            if (Volatile.Read(ref _identity)?.Session is { } present)
            {
                return present;
            }

            RoutingIdentity? identity = _identities.Find(_utf8);
            Volatile.Write(ref _identity, identity);
            return identity?.Session;
        }
    }

    /// <summary>Sends a one-way message if there is room now. Never blocks; safe in inline handlers.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded into the send queue.</param>
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound if no session has the id.</returns>
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (Session is { } session && session.TrySend(type, in body) is not SendStatus.Closed and var status)
        {
            return status;
        }

        return _router.TrySend(_utf8, type, in body);
    }

    /// <summary>Sends a one-way message if there is room now. Never blocks; safe in inline handlers.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; copied.</param>
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound if no session has the id.</returns>
    public SendStatus TrySend(ushort type, scoped ReadOnlySpan<byte> body) => TrySend(type, new RawBody(body));

    /// <summary>
    /// Sends a one-way message, and waits for room if the target's policy says so. Do not await it in an inline handler.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">
    /// Cancels the wait; nothing is sent then, unless the message is already on its way to another server.
    /// </param>
    /// <exception cref="SendFailedException">
    /// Nothing was sent: no session has the id, or the body is too large. With a router that forwards messages also: the other servers
    /// cannot be reached, or one has not confirmed the message, which may still have been delivered.
    /// </exception>
    public ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <summary>As <see cref="SendAsync{TBody}"/>, but returns a status instead of throwing.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">
    /// Cancels the wait; nothing is sent then, unless the message is already on its way to another server.
    /// </param>
    /// <returns>
    /// Queued, Dropped, TooLarge or NotFound; with a router that forwards messages, Queued when the target's server has queued it, and also
    /// Unavailable or Unconfirmed.
    /// </returns>
    public ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ValueTask<SendStatus> sending = BeginSend(type, in body);
        if (!sending.IsCompletedSuccessfully)
        {
            return SendSlowAsync(sending.AsTask(), type, body, cancellationToken);
        }

        SendStatus status = sending.Result;
        return status == SendStatus.Full
            ? SendSlowAsync(Task.FromResult(status), type, body, cancellationToken)
            : new ValueTask<SendStatus>(status);
    }

    /// <summary>The routing id.</summary>
    public override string ToString() => RoutingId;

    private ValueTask<SendStatus> BeginSend<TBody>(ushort type, in TBody body)
        where TBody : IFrameBody =>
        Session is { } session && session.TrySend(type, in body) is not SendStatus.Closed and var status
            ? new ValueTask<SendStatus>(status)
            : _router.SendAsync(_utf8, type, in body);

    private async ValueTask<SendStatus> SendSlowAsync<TBody>(
        Task<SendStatus> sending, ushort type, TBody body, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        while (true)
        {
            // The confirming thread must not run this program's code.
            SendStatus status = await sending.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            if (status != SendStatus.Full)
            {
                return status;
            }

            await _router.WhenWritableAsync(_utf8, cancellationToken).WaitAsync(cancellationToken).ConfigureAwait(false);
            sending = BeginSend(type, in body).AsTask();
        }
    }
}
