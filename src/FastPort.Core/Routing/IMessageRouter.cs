using FastPort.Framing;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// Where messages to routing ids and topics go, whoever sends them: peers (Relay, Publish) or the server's own program
/// (<see cref="ServerRouting"/>). The default delivers to the sessions of its server; another one, given through
/// <c>FastPortServerComponents.Router</c>, can carry further what the default does not find, for example to other machines.
/// Addresses are routing ids and topics in UTF-8, apart from any connection.
/// <para>Thread-safe; called on sessions' loops, so nothing here may block.</para>
/// </summary>
public interface IMessageRouter
{
    /// <summary>Hands a one-way message to the session that has a routing id.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type of the frame.</param>
    /// <param name="body">The frame's body; not to be kept.</param>
    /// <returns>
    /// Queued, or as the policy of a full target says: Full (nothing was taken, see <see cref="WhenWritableAsync"/>) or Dropped. TooLarge.
    /// NotFound where nobody has the id or who has it is leaving. Nothing else.
    /// </returns>
    SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct;

    /// <summary>
    /// Completes when it is worth trying again after Full: there is room, or nobody has the id any more. Must complete in bounded time.
    /// </summary>
    /// <param name="routingId">The id.</param>
    Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId);

    /// <summary>
    /// Hands a one-way message to every session subscribed to a prefix of a topic, once each. Waits for nobody: one without room does not
    /// get it. Where there are very many, one call hands it to some of them, so that the publisher's loop can serve others before the next.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="audience">Whose subscriptions it goes to.</param>
    /// <param name="type">Message type of the frame.</param>
    /// <param name="body">The frame's body; not to be kept.</param>
    /// <param name="next">
    /// 0 for a new publication, and again when all have been seen to; anything else: call again with it and the same message. A router
    /// that carries messages elsewhere does so where it is 0, and passes it on to the one below.
    /// </param>
    /// <returns>How many took it, of this call.</returns>
    int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
        where TBody : IFrameBody, allows ref struct;
}
