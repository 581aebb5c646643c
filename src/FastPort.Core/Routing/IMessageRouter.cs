using System.Diagnostics.CodeAnalysis;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>
/// Delivers messages to routing ids and topics, whether peers (Relay, Publish) or the server's own program (<see cref="ServerRouting"/>)
/// send them. The default router delivers to the sessions of its server. Another one, set with <c>FastPortServerComponents.Router</c>, can
/// forward messages whose target the default does not find, for example to other machines. Addresses are routing ids and topics in UTF-8,
/// independent of any connection.
/// <para>Thread-safe. Called on sessions' loops, so no method may block.</para>
/// </summary>
[Experimental("FASTPORT001")]
public interface IMessageRouter
{
    /// <summary>Sends a one-way message to the session that has a routing id.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type of the frame.</param>
    /// <param name="body">The frame's body; valid until the call returns.</param>
    /// <returns>
    /// Queued, or as the policy of a full target says: Full (the message was not queued, see <see cref="WhenWritableAsync"/>) or Dropped.
    /// TooLarge. NotFound if no session has the id or that session is closing. A router that forwards messages returns Queued for those on
    /// their way to another server, which may be lost, and Unavailable if it cannot reach any. No other status.
    /// </returns>
    SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct;

    /// <summary>
    /// As <see cref="TrySend"/>, and reports the outcome of the message, for relay requests and for programs that need it. Completed at the
    /// return if this server has the target, or if the message was not accepted.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type of the frame.</param>
    /// <param name="body">The frame's body; valid until the call returns.</param>
    /// <returns>
    /// As <see cref="TrySend"/>. Completed later: Queued when the target's server has queued the message, or Dropped, TooLarge, NotFound,
    /// Unavailable or Unconfirmed, or Full if its queue had no room for <see cref="RoutingOptions.RelayTimeout"/>; in bounded time.
    /// Defaults to the result of <see cref="TrySend"/>.
    /// </returns>
    ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => new(TrySend(routingId, type, in body));

    /// <summary>
    /// Completes when a retry after Full may succeed: there is room, or no session has the id any more. Must complete in bounded time.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <param name="cancellationToken">Canceled when no caller waits any more: the router must then drop the wait.</param>
    Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default);

    /// <summary>
    /// Sends a one-way message to every session subscribed to a prefix of a topic, once each. It does not wait: a session without room does
    /// not receive the message. If there are very many sessions, one call sends to some of them, so that the publisher's loop can serve
    /// other connections before the next call.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="audience">The subscriptions it is sent to.</param>
    /// <param name="type">Message type of the frame.</param>
    /// <param name="body">The frame's body; valid until the call returns.</param>
    /// <param name="next">
    /// 0 for a new publication. If it is not 0 after the call, call again with it and the same message, until it is 0. A router that
    /// forwards messages elsewhere does so if it is 0 at the call, and passes it on to the inner router.
    /// </param>
    /// <returns>
    /// The number of sessions of this server that this call has queued the message for. A router that forwards messages does not count the
    /// sessions of other servers; their <see cref="ITopicInterests"/> report which of them want a topic.
    /// </returns>
    int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
        where TBody : IFrameBody, allows ref struct;
}
