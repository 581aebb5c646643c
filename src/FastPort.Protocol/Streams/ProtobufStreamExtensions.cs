using System.Buffers;
using FastPort.Protocol.Streams;
using FastPort.Sessions.Streams;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Calls that stream, with Protocol Buffers messages. A call belongs to one session: it fails with
/// <see cref="RequestFailure.ConnectionLost"/> when the session ends, and is not retried. A peer that does not support streams is an
/// error, <see cref="RequestFailure.NotSupported"/>, before anything is sent.
/// </summary>
public static class ProtobufStreamExtensions
{
    /// <summary>Sends a request and reads a stream of replies.</summary>
    /// <param name="client">The client; a <see cref="FastPortClient"/>.</param>
    /// <param name="type">Message type.</param>
    /// <param name="request">The request; do not change it until the first reply has come.</param>
    /// <param name="parser">The replies' parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">
    /// Time to the first reply, including the wait for a connection; zero for no limit. Defaults to the client's request timeout.
    /// </param>
    /// <param name="wholeTimeout">Time for the whole call; zero for no limit. Defaults to no limit.</param>
    /// <param name="cancellationToken">Cancels the call; the client sends Cancel to the server.</param>
    /// <returns>
    /// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the enumeration. It throws
    /// <see cref="RequestFailedException"/> if the call fails.
    /// </returns>
    public static IAsyncEnumerable<TReply> StreamAsync<TReply>(
        this IFastPortClient client,
        ushort type,
        IMessage request,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        TimeSpan? wholeTimeout = null,
        CancellationToken cancellationToken = default)
        where TReply : IMessage<TReply> => Stream(Target(client), type, request, parser, timeout, wholeTimeout, cancellationToken);

    /// <summary>Sends a request to a session's peer and reads a stream of replies.</summary>
    /// <param name="session">The session; on the accepting side its peer must have sent Hello.</param>
    /// <param name="type">Message type.</param>
    /// <param name="request">The request; do not change it until the first reply has come.</param>
    /// <param name="parser">The replies' parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">Time to the first reply; zero for no limit. Defaults to 30 s.</param>
    /// <param name="wholeTimeout">Time for the whole call; zero for no limit. Defaults to no limit.</param>
    /// <param name="cancellationToken">Cancels the call; the session sends Cancel to the peer.</param>
    /// <returns>
    /// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the enumeration. It throws
    /// <see cref="RequestFailedException"/> if the call fails.
    /// </returns>
    public static IAsyncEnumerable<TReply> StreamAsync<TReply>(
        this Session session,
        ushort type,
        IMessage request,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        TimeSpan? wholeTimeout = null,
        CancellationToken cancellationToken = default)
        where TReply : IMessage<TReply> => Stream(Target(session), type, request, parser, timeout, wholeTimeout, cancellationToken);

    /// <summary>Sends a stream of requests and reads one reply.</summary>
    /// <param name="client">The client; a <see cref="FastPortClient"/>.</param>
    /// <param name="type">Message type.</param>
    /// <param name="requests">
    /// The requests, enumerated on the thread pool as the server reads them. Their token is canceled when the call ends before.
    /// </param>
    /// <param name="parser">The reply's parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">
    /// Time to the reply, including the wait for a connection; zero for no limit. Defaults to the client's request timeout.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; the client sends Cancel to the server.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    /// <exception cref="ArgumentException">A request exceeds the frame limit.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public static Task<TReply> SendStreamAsync<TRequest, TReply>(
        this IFastPortClient client,
        ushort type,
        IAsyncEnumerable<TRequest> requests,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage
        where TReply : IMessage<TReply> => Send(Target(client), type, requests, parser, timeout, cancellationToken);

    /// <summary>Sends a stream of requests to a session's peer and reads one reply.</summary>
    /// <param name="session">The session; on the accepting side its peer must have sent Hello.</param>
    /// <param name="type">Message type.</param>
    /// <param name="requests">
    /// The requests, enumerated on the thread pool as the peer reads them. Their token is canceled when the call ends before.
    /// </param>
    /// <param name="parser">The reply's parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">Time to the reply; zero for no limit. Defaults to 30 s.</param>
    /// <param name="cancellationToken">Cancels the call; the session sends Cancel to the peer.</param>
    /// <exception cref="RequestFailedException">The peer answered with an error, or no reply came.</exception>
    /// <exception cref="ArgumentException">A request exceeds the frame limit.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public static Task<TReply> SendStreamAsync<TRequest, TReply>(
        this Session session,
        ushort type,
        IAsyncEnumerable<TRequest> requests,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage
        where TReply : IMessage<TReply> => Send(Target(session), type, requests, parser, timeout, cancellationToken);

    /// <summary>
    /// Sends a stream of requests and reads a stream of replies. The two are independent: either may end before the other.
    /// </summary>
    /// <param name="client">The client; a <see cref="FastPortClient"/>.</param>
    /// <param name="type">Message type.</param>
    /// <param name="requests">
    /// The requests, enumerated on the thread pool as the server reads them. Their token is canceled when the call ends before. An
    /// exception of theirs ends the call.
    /// </param>
    /// <param name="parser">The replies' parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">
    /// Time to the first reply, including the wait for a connection; zero for no limit. Defaults to the client's request timeout.
    /// </param>
    /// <param name="wholeTimeout">Time for the whole call; zero for no limit. Defaults to no limit.</param>
    /// <param name="cancellationToken">Cancels the call; the client sends Cancel to the server.</param>
    /// <returns>
    /// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the enumeration. It throws
    /// <see cref="RequestFailedException"/> if the call fails.
    /// </returns>
    public static IAsyncEnumerable<TReply> ExchangeAsync<TRequest, TReply>(
        this IFastPortClient client,
        ushort type,
        IAsyncEnumerable<TRequest> requests,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        TimeSpan? wholeTimeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage
        where TReply : IMessage<TReply> =>
        Exchange(Target(client), type, requests, parser, timeout, wholeTimeout, cancellationToken);

    /// <summary>
    /// Sends a stream of requests to a session's peer and reads a stream of replies. The two are independent: either may end before the
    /// other.
    /// </summary>
    /// <param name="session">The session; on the accepting side its peer must have sent Hello.</param>
    /// <param name="type">Message type.</param>
    /// <param name="requests">
    /// The requests, enumerated on the thread pool as the peer reads them. Their token is canceled when the call ends before. An exception
    /// of theirs ends the call.
    /// </param>
    /// <param name="parser">The replies' parser: <c>MyReply.Parser</c>.</param>
    /// <param name="timeout">Time to the first reply; zero for no limit. Defaults to 30 s.</param>
    /// <param name="wholeTimeout">Time for the whole call; zero for no limit. Defaults to no limit.</param>
    /// <param name="cancellationToken">Cancels the call; the session sends Cancel to the peer.</param>
    /// <returns>
    /// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the enumeration. It throws
    /// <see cref="RequestFailedException"/> if the call fails.
    /// </returns>
    public static IAsyncEnumerable<TReply> ExchangeAsync<TRequest, TReply>(
        this Session session,
        ushort type,
        IAsyncEnumerable<TRequest> requests,
        MessageParser<TReply> parser,
        TimeSpan? timeout = null,
        TimeSpan? wholeTimeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage
        where TReply : IMessage<TReply> =>
        Exchange(Target(session), type, requests, parser, timeout, wholeTimeout, cancellationToken);

    private static IAsyncEnumerable<TReply> Stream<TReply>(
        IStreamTarget target, ushort type, IMessage request, MessageParser<TReply> parser, TimeSpan? timeout, TimeSpan? wholeTimeout,
        CancellationToken cancellationToken)
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(parser);
        return StreamCalls.Stream(
            target, type, new ProtobufBody(request), Reader(parser), timeout, wholeTimeout, cancellationToken);
    }

    private static Task<TReply> Send<TRequest, TReply>(
        IStreamTarget target, ushort type, IAsyncEnumerable<TRequest> requests, MessageParser<TReply> parser, TimeSpan? timeout,
        CancellationToken cancellationToken)
        where TRequest : IMessage
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(requests);
        ArgumentNullException.ThrowIfNull(parser);
        return StreamCalls.Send(
            target, type, requests, static request => new ProtobufBody(request), Reader(parser), timeout, cancellationToken);
    }

    private static IAsyncEnumerable<TReply> Exchange<TRequest, TReply>(
        IStreamTarget target, ushort type, IAsyncEnumerable<TRequest> requests, MessageParser<TReply> parser, TimeSpan? timeout,
        TimeSpan? wholeTimeout, CancellationToken cancellationToken)
        where TRequest : IMessage
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(requests);
        ArgumentNullException.ThrowIfNull(parser);
        return StreamCalls.Exchange(
            target, type, requests, static request => new ProtobufBody(request), Reader(parser), timeout, wholeTimeout, cancellationToken);
    }

    private static ItemParser<TReply> Reader<TReply>(MessageParser<TReply> parser)
        where TReply : IMessage<TReply> => (in ReadOnlySequence<byte> body) => StreamBodies.Parse(parser, in body);

    private static Session Target(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return session;
    }

    private static IStreamTarget Target(IFastPortClient client)
    {
        ArgumentNullException.ThrowIfNull(client);
        return client as IStreamTarget ?? throw new NotSupportedException(
            "A stream needs a FastPortClient. In a test, substitute the class that makes the call, or use a server within the process.");
    }
}
