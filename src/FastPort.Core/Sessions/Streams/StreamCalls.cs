using FastPort.Framing;

namespace FastPort.Sessions.Streams;

/// <summary>
/// Calls that stream. Each returns at once; a stream of replies begins when it is enumerated, once. A call belongs to one session: it
/// fails with <see cref="RequestFailure.ConnectionLost"/> when the session ends, and is not retried.
/// </summary>
internal static class StreamCalls
{
    /// <summary>One request, a stream of replies.</summary>
    /// <param name="target">Where the call goes.</param>
    /// <param name="type">Message type.</param>
    /// <param name="request">The request; must stay unchanged until the first item has come.</param>
    /// <param name="parse">Reads an item on the session's loop.</param>
    /// <param name="timeout">Time to the first item; zero or less for no limit. Null for the target's.</param>
    /// <param name="wholeTimeout">Time for the whole call; null, or zero or less, for no limit.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public static IAsyncEnumerable<TItem> Stream<TBody, TItem>(
        IStreamTarget target, ushort type, TBody request, ItemParser<TItem> parse, TimeSpan? timeout, TimeSpan? wholeTimeout,
        CancellationToken cancellationToken)
        where TBody : IFrameBody => new ReplyStream<TItem>(
            new StreamStart(target, type, new OneRequest<TBody>(request), timeout, wholeTimeout, cancellationToken), parse);

    /// <summary>A stream of requests, one reply.</summary>
    /// <param name="target">Where the call goes.</param>
    /// <param name="type">Message type.</param>
    /// <param name="requests">The requests; enumerated on the pool, with a token that is canceled when the call ends before.</param>
    /// <param name="encode">Makes the body of a request.</param>
    /// <param name="parse">Reads the reply on the session's loop.</param>
    /// <param name="timeout">Time to the reply, which is the whole call; zero or less for no limit. Null for the target's.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public static Task<TResult> Send<TItem, TBody, TResult>(
        IStreamTarget target, ushort type, IAsyncEnumerable<TItem> requests, Func<TItem, TBody> encode, ItemParser<TResult> parse,
        TimeSpan? timeout, CancellationToken cancellationToken)
        where TBody : IFrameBody => new RequestStream<TResult>(
            new StreamStart(target, type, new RequestItems<TItem, TBody>(requests, encode), timeout, null, cancellationToken),
            parse).CallAsync();

    /// <summary>A stream of requests, a stream of replies.</summary>
    /// <param name="target">Where the call goes.</param>
    /// <param name="type">Message type.</param>
    /// <param name="requests">The requests; enumerated on the pool, with a token that is canceled when the call ends before.</param>
    /// <param name="encode">Makes the body of a request.</param>
    /// <param name="parse">Reads a reply on the session's loop.</param>
    /// <param name="timeout">Time to the first reply; zero or less for no limit. Null for the target's.</param>
    /// <param name="wholeTimeout">Time for the whole call; null, or zero or less, for no limit.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public static IAsyncEnumerable<TResult> Exchange<TItem, TBody, TResult>(
        IStreamTarget target, ushort type, IAsyncEnumerable<TItem> requests, Func<TItem, TBody> encode, ItemParser<TResult> parse,
        TimeSpan? timeout, TimeSpan? wholeTimeout, CancellationToken cancellationToken)
        where TBody : IFrameBody => new ReplyStream<TResult>(
            new StreamStart(target, type, new RequestItems<TItem, TBody>(requests, encode), timeout, wholeTimeout, cancellationToken),
            parse);
}
