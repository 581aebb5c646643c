using FastPort.Clients;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Routing;
using FastPort.Sessions;
using Google.Protobuf;

namespace FastPort.Protocol.Clients;

/// <summary>Handles a relayed or published message on the session's loop; must not block or wait.</summary>
/// <typeparam name="TMessage">The decoded body.</typeparam>
/// <param name="body">The decoded body; the handler's own.</param>
/// <param name="message">Where it comes from and went to; not to be kept.</param>
public delegate void RoutedHandler<in TMessage>(TMessage body, scoped in RoutedMessage message);

/// <summary>Messages to and from other peers whose bodies are Protocol Buffers messages.</summary>
public static class ProtobufRoutingExtensions
{
    /// <summary>Hands a message to the session with a routing id; see <see cref="FastPortClient.RelayAsync{TBody}"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="to">The routing id.</param>
    /// <param name="type">A type of the application's own; the target finds its handler by it.</param>
    /// <param name="message">The message; must not change until the task ends.</param>
    /// <param name="timeout">Time for all of it. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Gives up; it may have been handed over all the same.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public static Task RelayAsync(
        this FastPortClient client, string to, uint type, IMessage message, TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        return client.RelayAsync(to, type, new ProtobufBody(message), timeout, cancellationToken);
    }

    /// <summary>
    /// Handles what other peers relay to this one; see <see cref="FastPortClient.OnRelayed"/>. A body that does not parse is counted as a
    /// one-way failure.
    /// </summary>
    /// <param name="client">The client.</param>
    /// <param name="type">The type that the sender gave the message.</param>
    /// <param name="parser">The body's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">The handler.</param>
    public static void OnRelayed<TMessage>(
        this FastPortClient client, uint type, MessageParser<TMessage> parser, RoutedHandler<TMessage> handler)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(client);
        client.OnRelayed(type, Parsing(parser, handler));
    }

    /// <summary>Publishes; see <see cref="FastPortClient.PublishAsync{TBody}"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="type">A type of the application's own.</param>
    /// <param name="message">The message; must not change until the task ends.</param>
    /// <param name="timeout">Time for all of it. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Gives up; it may have been published all the same.</param>
    /// <returns>How many sessions' send queues at the server took it.</returns>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public static Task<int> PublishAsync(
        this FastPortClient client, string topic, uint type, IMessage message, TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        return client.PublishAsync(topic, type, new ProtobufBody(message), timeout, cancellationToken);
    }

    /// <summary>Subscribes to topics whose messages all have this form; see <see cref="FastPortClient.SubscribeAsync"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="prefix">What the topics begin with.</param>
    /// <param name="parser">The body's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="timeout">Time for all of it. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Gives up; not subscribed then.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came. Not subscribed then.</exception>
    public static Task SubscribeAsync<TMessage>(
        this FastPortClient client,
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

    /// <summary>Sends a one-way message to the session with a routing id if there is room now.</summary>
    /// <param name="routing">The server's routing.</param>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message.</param>
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound where nobody has the id.</returns>
    public static SendStatus TrySendTo(this ServerRouting routing, string routingId, ushort type, IMessage message)
    {
        ArgumentNullException.ThrowIfNull(routing);
        return routing.TrySendTo(routingId, type, new ProtobufBody(message));
    }

    /// <summary>Publishes from the server; see <see cref="ServerRouting.Publish{TBody}"/>.</summary>
    /// <param name="routing">The server's routing.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="type">A type of the application's own.</param>
    /// <param name="message">The message.</param>
    /// <returns>How many send queues took it.</returns>
    public static int Publish(this ServerRouting routing, string topic, uint type, IMessage message)
    {
        ArgumentNullException.ThrowIfNull(routing);
        return routing.Publish(topic, type, new ProtobufBody(message));
    }

    private static RoutedHandler Parsing<TMessage>(MessageParser<TMessage> parser, RoutedHandler<TMessage> handler)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        return (scoped in RoutedMessage message) =>
        {
            TMessage body;
            try
            {
                body = message.Body.IsSingleSegment ? parser.ParseFrom(message.Body.FirstSpan) : parser.ParseFrom(message.Body);
            }
            catch (InvalidProtocolBufferException)
            {
                // Another peer's mistake: it is counted and not logged here.
                throw new RequestRefusedException(ErrorCode.MalformedBody, $"The body is no {typeof(TMessage).Name} message.");
            }

            handler(body, in message);
        };
    }
}
