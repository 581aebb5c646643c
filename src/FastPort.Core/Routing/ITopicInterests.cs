using System.Diagnostics.CodeAnalysis;

namespace FastPort.Routing;

/// <summary>
/// Learns what the sessions of a server are subscribed to, so that a <see cref="IMessageRouter"/> of other servers knows which publications
/// to forward here. Set with <c>FastPortServerComponents.TopicInterests</c>.
/// <para>
/// Called under a lock, in the order of the changes, on sessions' loops and other threads: a method must return soon, must not throw, and
/// must not call the server's <see cref="ServerRouting"/>.
/// </para>
/// </summary>
[Experimental("FASTPORT001")]
public interface ITopicInterests
{
    /// <summary>A prefix has its first subscription, made by a peer or by the server's program.</summary>
    /// <param name="prefix">The prefix in UTF-8; valid until the call returns.</param>
    void Wanted(ReadOnlySpan<byte> prefix);

    /// <summary>The last subscription to a prefix has ended. Called once after each <see cref="Wanted"/> of the prefix.</summary>
    /// <param name="prefix">The prefix in UTF-8; valid until the call returns.</param>
    void Unwanted(ReadOnlySpan<byte> prefix);
}
