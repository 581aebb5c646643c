using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>Requests and one-way messages with Protocol Buffers bodies.</summary>
public static class ProtobufClientExtensions
{
    // The methods for clients test for the class, because a generic method of an interface is looked up at each call.

    /// <summary>Sends a request and parses its reply.</summary>
    /// <param name="client">The client.</param>
    /// <param name="type">Message type.</param>
    /// <param name="request">The request; do not change it until the task ends.</param>
    /// <param name="parser">The reply's parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">Time for the whole call; zero for no limit. Defaults to the client's request timeout.</param>
    /// <param name="cancellationToken">Cancels the request; the client sends Cancel to the server.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public static Task<TReply> RequestAsync<TReply>(
        this IFastPortClient client,
        ushort type,
        IMessage request,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(client);
        ArgumentNullException.ThrowIfNull(parser);
        var body = new ProtobufBody(request);
        return client is FastPortClient known
            ? known.RequestAsync(type, body, Reader(parser), timeout, cancellationToken)
            : client.RequestAsync(type, body, Reader(parser), timeout, cancellationToken);
    }

    /// <summary>Sends a one-way message; waits for a connection and for room.</summary>
    /// <param name="client">The client.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message; do not change it until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the body is too large.</exception>
    public static ValueTask SendAsync(
        this IFastPortClient client, ushort type, IMessage message, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        var body = new ProtobufBody(message);
        return client is FastPortClient known
            ? known.SendAsync(type, body, cancellationToken)
            : client.SendAsync(type, body, cancellationToken);
    }

    /// <summary>As SendAsync, with a status instead of <see cref="SendFailedException"/>.</summary>
    /// <param name="client">The client.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message; do not change it until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    public static ValueTask<SendStatus> TrySendAsync(
        this IFastPortClient client, ushort type, IMessage message, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        var body = new ProtobufBody(message);
        return client is FastPortClient known
            ? known.TrySendAsync(type, body, cancellationToken)
            : client.TrySendAsync(type, body, cancellationToken);
    }

    /// <summary>
    /// Sends a request to a session's peer, for example from a server to its client, and parses the reply. Do not await it in an inline
    /// handler.
    /// </summary>
    /// <param name="session">The session; on the accepting side its peer must have sent Hello.</param>
    /// <param name="type">Message type.</param>
    /// <param name="request">The request; do not change it until the task ends.</param>
    /// <param name="parser">The reply's parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">Time for the whole call; zero for no limit. Defaults to 30 s.</param>
    /// <param name="cancellationToken">Cancels the request; the session sends Cancel to the peer.</param>
    /// <exception cref="RequestFailedException">The peer answered with an error, or no reply came.</exception>
    public static Task<TReply> RequestAsync<TReply>(
        this Session session,
        ushort type,
        IMessage request,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(session);
        ArgumentNullException.ThrowIfNull(parser);
        return session.RequestAsync(type, new ProtobufBody(request), Reader(parser), timeout, cancellationToken);
    }

    /// <summary>
    /// Sends a one-way message to a session; waits for room if the send queue policy is to wait. Do not await it in an inline handler.
    /// </summary>
    /// <param name="session">The session.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message; do not change it until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    /// <exception cref="SendFailedException">
    /// Nothing was sent: the session is closed, its peer has not sent Hello, or the body is too large.
    /// </exception>
    public static ValueTask SendAsync(
        this Session session, ushort type, IMessage message, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.SendAsync(type, new ProtobufBody(message), cancellationToken);
    }

    /// <summary>As SendAsync, with a status instead of <see cref="SendFailedException"/>.</summary>
    /// <param name="session">The session.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message; do not change it until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    public static ValueTask<SendStatus> TrySendAsync(
        this Session session, ushort type, IMessage message, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.TrySendAsync(type, new ProtobufBody(message), cancellationToken);
    }

    /// <summary>Sends a one-way message to a session if there is room now.</summary>
    /// <param name="session">The session.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message.</param>
    public static SendStatus TrySend(this Session session, ushort type, IMessage message)
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.TrySend(type, new ProtobufBody(message));
    }

    /// <summary>Sends a one-way message to every member of a group, encoded once.</summary>
    /// <param name="group">The group.</param>
    /// <param name="type">Message type.</param>
    /// <param name="message">The message.</param>
    /// <returns>The number of send queues that accepted the message.</returns>
    public static int Broadcast(this SessionGroup group, ushort type, IMessage message)
    {
        ArgumentNullException.ThrowIfNull(group);
        return group.Broadcast(type, new ProtobufBody(message));
    }

    private static ReplyReader<TReply> Reader<TReply>(MessageParser<TReply> parser)
        where TReply : IMessage<TReply>
    {
        ReplyParser<TReply>? last = ReplyParser<TReply>.Last;
        return last is not null && ReferenceEquals(last.Parser, parser) ? last.Reader : new ReplyParser<TReply>(parser).Reader;
    }

    // A message type has one parser in most programs: its reader is created once.
    private sealed class ReplyParser<TReply>
        where TReply : IMessage<TReply>
    {
        private static ReplyParser<TReply>? _last;

        public ReplyParser(MessageParser<TReply> parser)
        {
            Parser = parser;
            Reader = Read;
            Volatile.Write(ref _last, this);
        }

        public static ReplyParser<TReply>? Last => Volatile.Read(ref _last);

        public MessageParser<TReply> Parser { get; }

        public ReplyReader<TReply> Reader { get; }

        private TReply Read(scoped in InboundReply reply) =>
            reply.Body.IsSingleSegment ? Parser.ParseFrom(reply.Body.FirstSpan) : Parser.ParseFrom(reply.Body);
    }
}
