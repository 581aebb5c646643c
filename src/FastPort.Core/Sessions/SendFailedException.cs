namespace FastPort;

/// <summary>
/// A message was neither queued nor dropped by the policy for full queues. Nothing was sent, unless the status is
/// <see cref="SendStatus.Unconfirmed"/>: then it may have been delivered.
/// </summary>
public sealed class SendFailedException : Exception
{
    private SendFailedException(SendStatus status, string message)
        : base(message) => Status = status;

    /// <summary>
    /// The status: Closed, TooLarge, NotFound or NotReady; with a router that forwards messages also Unavailable or Unconfirmed.
    /// </summary>
    public SendStatus Status { get; }

    /// <summary>Completes as the send does; fails with this exception if the message was not sent, or may not have been.</summary>
    internal static ValueTask ThrowUnlessSent(ValueTask<SendStatus> sending)
    {
        if (!sending.IsCompletedSuccessfully)
        {
            return AwaitAsync(sending);
        }

        SendStatus status = sending.Result;
        return IsSent(status) ? default : ValueTask.FromException(Create(status));
    }

    private static async ValueTask AwaitAsync(ValueTask<SendStatus> sending)
    {
        SendStatus status = await sending.ConfigureAwait(false);
        if (!IsSent(status))
        {
            throw Create(status);
        }
    }

    private static bool IsSent(SendStatus status) => status is SendStatus.Queued or SendStatus.Dropped;

    private static SendFailedException Create(SendStatus status) => new(status, status switch
    {
        SendStatus.Closed => "The message was not sent: the session is closed or closing.",
        SendStatus.TooLarge =>
            "The message was not sent: its body is larger than the frame limit allows (Session.MaxBodyBytes), or than servers forward to "
            + "each other; raise MaxFrameBytes on both sides, or send it in pieces.",
        SendStatus.NotFound => "The message was not sent: no session has the routing id.",
        SendStatus.NotReady =>
            "The message was not sent: the peer has not said Hello. Send from SessionIdentified on, or answer through the request.",
        SendStatus.Unavailable =>
            "The message was not sent: no session of this server has the routing id, and the other servers cannot be reached now. "
            + "It can be sent again.",
        SendStatus.Unconfirmed =>
            "The message was sent to another server, which has not confirmed it: whether it was delivered is unknown.",
        _ => $"The message was not sent: {status}.",
    });
}
