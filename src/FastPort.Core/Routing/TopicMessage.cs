namespace FastPort;

/// <summary>
/// A published message in a stream of <see cref="FastPortClient.ReadTopicAsync{TBody}"/>. It owns its memory and may be kept.
/// </summary>
/// <typeparam name="TBody">What the body was read as.</typeparam>
/// <param name="Topic">The topic.</param>
/// <param name="Type">The publishing application's message type.</param>
/// <param name="Body">The body.</param>
/// <param name="From">
/// The publisher's routing id as the server knows it; empty if it has none, <c>$server</c> for messages of the server's program. Defaults
/// to none.
/// </param>
/// <param name="Dropped">
/// Messages between the previous one of the enumeration and this one that were dropped because the reader was too slow. Defaults to 0.
/// </param>
public readonly record struct TopicMessage<TBody>(string Topic, ushort Type, TBody Body, string From = "", long Dropped = 0);

/// <summary>
/// Reads a published message on the session's loop, while the message is still in the receive ring. Must not block, nor keep the body's
/// memory. If it throws, the message is left out and counted as a one-way failure.
/// </summary>
/// <typeparam name="TBody">What the body is read as.</typeparam>
/// <param name="message">The message; valid until the call returns.</param>
public delegate TBody RoutedReader<out TBody>(scoped in RoutedMessage message);
