using System.Threading.Channels;
using FastPort.Protocol.Handlers;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>Handles a relayed or published message on the session's loop; must not block or wait.</summary>
/// <typeparam name="TMessage">The decoded body.</typeparam>
/// <param name="body">The decoded body; owned by the handler.</param>
/// <param name="message">The message's source and target; valid only during the call.</param>
public delegate void RoutedHandler<in TMessage>(TMessage body, scoped in RoutedMessage message);

/// <summary>Messages to and from other peers with Protocol Buffers bodies.</summary>
public static class ProtobufRoutingExtensions
{
    /// <summary>Sends a message to the session with a routing id; see <see cref="IFastPortClient.RelayAsync{TBody}"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="to">The routing id.</param>
    /// <param name="type">The application's message type, which selects the target's handler.</param>
    /// <param name="message">The message; do not change it until the task ends.</param>
    /// <param name="timeout">Time for the whole call; zero for no limit. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Cancels the call; the server may still have forwarded the message.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public static Task RelayAsync(
        this IFastPortClient client, string to, ushort type, IMessage message, TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        return client.RelayAsync(to, type, new ProtobufBody(message), timeout, cancellationToken);
    }

    /// <summary>
    /// Registers a handler of messages that other peers relay to this one; see <see cref="IFastPortClient.OnRelayed"/>. A body that cannot
    /// be parsed is counted as a one-way failure.
    /// </summary>
    /// <param name="client">The client.</param>
    /// <param name="type">The sender's message type.</param>
    /// <param name="parser">The body's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">The handler.</param>
    public static void OnRelayed<TMessage>(
        this IFastPortClient client, ushort type, MessageParser<TMessage> parser, RoutedHandler<TMessage> handler)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(client);
        client.OnRelayed(type, Parsing(parser, handler));
    }

    /// <summary>Publishes; see <see cref="IFastPortClient.PublishAsync{TBody}"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="type">The application's message type.</param>
    /// <param name="message">The message; do not change it until the task ends.</param>
    /// <param name="timeout">Time for the whole call; zero for no limit. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Cancels the call; the server may still have published the message.</param>
    /// <returns>The number of sessions whose send queues at the server accepted the message.</returns>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public static Task<int> PublishAsync(
        this IFastPortClient client, string topic, ushort type, IMessage message, TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        return client.PublishAsync(topic, type, new ProtobufBody(message), timeout, cancellationToken);
    }

    /// <summary>Subscribes to topics whose messages all have one type; see <see cref="IFastPortClient.SubscribeAsync"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="prefix">The prefix of the topics.</param>
    /// <param name="parser">The body's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="timeout">Time for the whole call; zero for no limit. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Cancels the call; then the client is not subscribed.</param>
    /// <exception cref="RequestFailedException">
    /// The server answered with an error, or no reply came. Then the client is not subscribed.
    /// </exception>
    public static Task SubscribeAsync<TMessage>(
        this IFastPortClient client,
        string prefix,
        MessageParser<TMessage> parser,
        RoutedHandler<TMessage> handler,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(client);
        return client.SubscribeAsync(prefix, Parsing(parser, handler), timeout, cancellationToken);
    }

    /// <summary>
    /// The messages published under all topics with a prefix, as a stream; the messages all have one type. See
    /// <see cref="IFastPortClient.ReadTopicAsync{TBody}"/>. A body that cannot be parsed is left out and counted as a one-way failure.
    /// </summary>
    /// <param name="client">The client.</param>
    /// <param name="prefix">The prefix of the topics; empty for all topics.</param>
    /// <param name="parser">The body's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="capacity">
    /// Maximum number of messages that wait for the reader, 1 or more; 1 keeps the latest. Defaults to 256.
    /// </param>
    /// <param name="whenFull">
    /// The message to drop when the buffer is full. Defaults to the oldest. <see cref="BoundedChannelFullMode.Wait"/> is not allowed.
    /// </param>
    /// <param name="onSubscribed">
    /// Called by the reader once per enumeration, when the server has confirmed the subscription. Defaults to none.
    /// </param>
    /// <param name="timeout">Time to subscribe; zero for no limit. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="RequestFailedException">
    /// In the loop: the server refused the subscription, no reply came, or the client has given up.
    /// </exception>
    /// <exception cref="OperationCanceledException">In the loop: canceled.</exception>
    public static IAsyncEnumerable<TopicMessage<TMessage>> ReadTopicAsync<TMessage>(
        this IFastPortClient client,
        string prefix,
        MessageParser<TMessage> parser,
        int capacity = 256,
        BoundedChannelFullMode whenFull = BoundedChannelFullMode.DropOldest,
        Action? onSubscribed = null,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(client);
        ArgumentNullException.ThrowIfNull(parser);
        return client.ReadTopicAsync(
            prefix, (scoped in RoutedMessage message) => Parse(parser, in message), capacity, whenFull, onSubscribed, timeout,
            cancellationToken);
    }

    /// <summary>Sends a one-way message to the session with a routing id if there is room now.</summary>
    /// <param name="routing">The server's routing.</param>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message.</param>
    /// <returns>Queued; Full or Dropped, by the target's policy; TooLarge; NotFound if no session has the id.</returns>
    public static SendStatus TrySendTo(this ServerRouting routing, string routingId, ushort type, IMessage message)
    {
        ArgumentNullException.ThrowIfNull(routing);
        return routing.TrySendTo(routingId, type, new ProtobufBody(message));
    }

    /// <summary>Publishes from the server; see <see cref="ServerRouting.Publish{TBody}"/>.</summary>
    /// <param name="routing">The server's routing.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="type">The application's message type.</param>
    /// <param name="message">The message.</param>
    /// <returns>The number of send queues that accepted the message.</returns>
    public static int Publish(this ServerRouting routing, string topic, ushort type, IMessage message)
    {
        ArgumentNullException.ThrowIfNull(routing);
        return routing.Publish(topic, type, new ProtobufBody(message));
    }

    private static RoutedHandler Parsing<TMessage>(MessageParser<TMessage> parser, RoutedHandler<TMessage> handler)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        return (scoped in RoutedMessage message) => handler(Parse(parser, in message), in message);
    }

    private static TMessage Parse<TMessage>(MessageParser<TMessage> parser, scoped in RoutedMessage message)
        where TMessage : IMessage<TMessage>
    {
        try
        {
            return message.Body.IsSingleSegment ? parser.ParseFrom(message.Body.FirstSpan) : parser.ParseFrom(message.Body);
        }
        catch (InvalidProtocolBufferException e)
        {
            // Another peer's error: counted, not logged.
            throw new RequestRefusedException(ErrorCode.MalformedBody, MalformedBody.Describe("The body", typeof(TMessage).Name, e));
        }
    }
}
