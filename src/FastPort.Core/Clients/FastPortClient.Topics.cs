using System.Buffers;
using System.Runtime.CompilerServices;
using System.Threading.Channels;
using FastPort.Clients;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Sessions.Requests;

namespace FastPort;

// Subscriptions to topics: with a handler, or as a stream. All receivers of a prefix share one subscription at the server.
public sealed partial class FastPortClient
{
    // A server that has refused a subscription, or its end, may do so for a long time.
    private static readonly TimeSpan LongestSubscribeDelay = TimeSpan.FromSeconds(30);

    private readonly ClientRouting _routing = new();

    private TimeSpan LongestDelay =>
        _options.MaxReconnectDelay > LongestSubscribeDelay ? _options.MaxReconnectDelay : LongestSubscribeDelay;

    /// <summary>
    /// Subscribes to all topics with a prefix. The subscription outlives the connection: the client subscribes each new session before
    /// requests use it; the client requests a temporarily refused subscription again. Messages published in between are missed. A message
    /// whose topic has several subscribed prefixes is received once and passed to the handler of each.
    /// </summary>
    /// <param name="prefix">The prefix of the topics; empty for all topics.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; then the client is not subscribed.</param>
    /// <exception cref="InvalidOperationException">The prefix has a handler in this client.</exception>
    /// <exception cref="RequestFailedException">
    /// Overloaded: the session has the maximum number of topics. MalformedBody: the prefix is too long. UnknownType: the server has no
    /// topics. Or no reply came. Then the client is not subscribed.
    /// </exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task SubscribeAsync(
        string prefix, RoutedHandler handler, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(handler);
        return BeginAsync(prefix, new HandlerReceiver(handler), timeout, cancellationToken);
    }

    /// <summary>
    /// Ends the subscription of a handler. The handler is no longer called, even if the request fails. Streams of the prefix continue.
    /// Ignored if there is no subscription.
    /// </summary>
    /// <param name="prefix">The prefix.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public async Task UnsubscribeAsync(string prefix, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        if (_routing.RemoveHandler(prefix) is not { } topic)
        {
            return;
        }

        try
        {
            await EndAsync(topic, timeout, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _routing.Release(topic);
        }
    }

    /// <summary>
    /// The messages published under all topics with a prefix, as a stream. The first <c>MoveNextAsync</c> subscribes, and throws if the
    /// subscription is refused. Leaving the loop in any way ends the subscription unless the prefix has a handler or another stream in this
    /// client; it neither waits for the server nor throws. Each enumeration has its own buffer and gets every message.
    /// <para>
    /// The stream outlives the connection, as a subscription with a handler does: messages published in between are missed. It ends when
    /// the program closes the client, after the messages in the buffer.
    /// </para>
    /// <para>
    /// The connection never waits for the reader. If the reader is slower than the messages for longer than the buffer lasts, messages are
    /// dropped: <see cref="TopicMessage{TBody}.Dropped"/> says how many and where.
    /// </para>
    /// </summary>
    /// <param name="prefix">The prefix of the topics; empty for all topics.</param>
    /// <param name="reader">Reads each message on the session's loop. Defaults to a copy of the body's bytes.</param>
    /// <param name="capacity">
    /// Maximum number of messages that wait for the reader, 1 or more; 1 keeps the latest. Defaults to 256.
    /// </param>
    /// <param name="whenFull">
    /// The message to drop when the buffer is full. Defaults to the oldest. <see cref="BoundedChannelFullMode.Wait"/> is not allowed.
    /// </param>
    /// <param name="onSubscribed">
    /// Called by the reader once per enumeration, when the server has confirmed the subscription: messages published from now on are in the
    /// stream. Defaults to none.
    /// </param>
    /// <param name="timeout">
    /// Time to subscribe. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is below 1, or the mode is Wait or unknown.</exception>
    /// <exception cref="RequestFailedException">
    /// In the loop: the server refused the subscription, as in <see cref="SubscribeAsync"/>, or no reply came. Or the client has given up
    /// (<see cref="RequestFailure.Closed"/>): the connection has ended and the client does not reconnect, or its token was refused.
    /// </exception>
    /// <exception cref="OperationCanceledException">In the loop: canceled.</exception>
    public IAsyncEnumerable<TopicMessage<TBody>> ReadTopicAsync<TBody>(
        string prefix,
        RoutedReader<TBody> reader,
        int capacity = 256,
        BoundedChannelFullMode whenFull = BoundedChannelFullMode.DropOldest,
        Action? onSubscribed = null,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(reader);
        ArgumentOutOfRangeException.ThrowIfLessThan(capacity, 1);
        if (whenFull == BoundedChannelFullMode.Wait || !Enum.IsDefined(whenFull))
        {
            throw new ArgumentOutOfRangeException(
                nameof(whenFull), whenFull, "A connection does not wait for a reader; use DropOldest, DropNewest or DropWrite.");
        }

        return ReadTopicCoreAsync(prefix, reader, capacity, whenFull, onSubscribed, timeout, cancellationToken);
    }

    /// <inheritdoc cref="ReadTopicAsync{TBody}"/>
    public IAsyncEnumerable<TopicMessage<ReadOnlyMemory<byte>>> ReadTopicAsync(
        string prefix,
        int capacity = 256,
        BoundedChannelFullMode whenFull = BoundedChannelFullMode.DropOldest,
        Action? onSubscribed = null,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default) =>
        ReadTopicAsync(prefix, CopyBody, capacity, whenFull, onSubscribed, timeout, cancellationToken);

    private async IAsyncEnumerable<TopicMessage<TBody>> ReadTopicCoreAsync<TBody>(
        string prefix,
        RoutedReader<TBody> reader,
        int capacity,
        BoundedChannelFullMode whenFull,
        Action? onSubscribed,
        TimeSpan? timeout,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var buffer = new TopicBuffer<TBody>(reader, capacity, whenFull, Counters);
        TopicSubscription topic = await BeginAsync(prefix, buffer, timeout, cancellationToken).ConfigureAwait(false);
        try
        {
            onSubscribed?.Invoke();
            await foreach (TopicMessage<TBody> message in buffer.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                yield return message;
            }
        }
        finally
        {
            Leave(topic, buffer);
        }
    }

    // Also requested if the server has the subscription: after a reconnect it may have refused what it accepted before.
    private async Task<TopicSubscription> BeginAsync(
        string prefix, ITopicReceiver receiver, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        // Added first: messages can arrive before the reply.
        TopicSubscription topic = _routing.Add(prefix, receiver)
            ?? throw new InvalidOperationException($"This client is already subscribed to '{prefix}'; a prefix has one handler.");
        try
        {
            TimeSpan left = await TakeTurnAsync(topic, timeout, cancellationToken).ConfigureAwait(false);
            try
            {
                topic.MayStand = true;
                await RequestTopicAsync(ControlType.Subscribe, prefix, left, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                topic.Turn.Release();
            }
        }
        catch
        {
            Leave(topic, receiver);
            throw;
        }

        return topic;
    }

    // The Unsubscribe of the last receiver is sent before this method returns, unless the send queue is full or another request about the
    // prefix is in progress. So the server ends the subscription before it runs the caller's next request. The reply is not awaited.
    private void Leave(TopicSubscription topic, ITopicReceiver receiver)
    {
        receiver.End(why: null);
        _routing.Remove(topic, receiver);
        _ = NoContext.Start(() => EndUnusedAsync(topic));
    }

    // Tries until the server has ended the subscription, it is used again, or the client ends. The server limits the changes per second,
    // so it may refuse an Unsubscribe for now.
    private async Task EndUnusedAsync(TopicSubscription topic)
    {
        var delays = new ReconnectBackoff(_options.ReconnectDelay, LongestDelay);
        delays.Next();
        try
        {
            while (!await TryEndAsync(topic).ConfigureAwait(false))
            {
                await Task.Delay(delays.Next(), _clock.Time, _closing.Token).ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ArgumentException)
        {
            // The client was closed, or the prefix does not fit in a frame: then no server has the subscription.
        }
        finally
        {
            _routing.Release(topic);
        }
    }

    // False if a later attempt may succeed.
    private async Task<bool> TryEndAsync(TopicSubscription topic)
    {
        try
        {
            await EndAsync(topic, timeout: null, _closing.Token).ConfigureAwait(false);
            return true;
        }
        catch (RequestFailedException e)
        {
            // Without a reply only a timeout leaves a session that may have the subscription.
            return e.Failure is null ? IsFinal(e.Code) : e.Failure != RequestFailure.TimedOut;
        }
    }

    // Ends the subscription at the server if nobody uses it.
    private async Task EndAsync(TopicSubscription topic, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        TimeSpan left = await TakeTurnAsync(topic, timeout, cancellationToken).ConfigureAwait(false);
        try
        {
            if (topic.MayStand && topic.Receivers.Length == 0)
            {
                await RequestTopicAsync(ControlType.Unsubscribe, topic.Prefix, left, cancellationToken).ConfigureAwait(false);
                topic.MayStand = false;
            }
        }
        finally
        {
            topic.Turn.Release();
        }
    }

    // Returns the time left; zero for no limit.
    private async Task<TimeSpan> TakeTurnAsync(TopicSubscription topic, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        var limit = new TimeLimit(timeout ?? _options.RequestTimeout);
        limit.Waits(_clock);
        using var tooLate = new CancellationTokenSource(Session.ForWait(limit.Left), _clock.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, tooLate.Token);
        try
        {
            await topic.Turn.WaitAsync(both.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException e)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw new RequestFailedException(
                RequestFailure.TimedOut, $"An earlier change of the subscription to '{topic.Prefix}' did not end in time.", e);
        }

        limit.Waited(_clock);
        return limit.Left;
    }

    // The request is idempotent, so it is retried when the connection is lost in the meantime.
    private async Task RequestTopicAsync(ushort type, string prefix, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        var limit = new TimeLimit(timeout ?? _options.RequestTimeout);
        limit.Waits(_clock);
        while (true)
        {
            try
            {
                await RequestAsync(type, new TopicBody(prefix), ReadNothing, limit.Left, cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost && _options.Reconnect)
            {
                // Retried on the next session.
                limit.Waited(_clock);
            }
        }
    }

    // Subscribes the session to those of the prefixes that the client is subscribed to, and ends those that were given up in the meantime.
    // A refusal is logged, not thrown: the server accepted the subscription before. Returns the prefixes to ask for again later in the
    // session.
    private async Task<List<string>> SubscribeAgainAsync(Session session, string[] prefixes, CancellationToken cancellationToken)
    {
        List<string> later = [];
        List<(string Prefix, Task<bool> Reply)> requests = [];
        foreach (string prefix in prefixes.Intersect(_routing.Prefixes, StringComparer.Ordinal))
        {
            var reply = AwaitedReply<bool>.Rent(ReadNothing);
            SendStatus status;
            while ((status = session.TryRequest(
                ControlType.Subscribe, new TopicBody(prefix), reply, timing: false, _options.ConnectTimeout, out _)) == SendStatus.Full)
            {
                await session.WhenWritableAsync(cancellationToken).ConfigureAwait(false);
            }

            if (status == SendStatus.Queued)
            {
                requests.Add((prefix, reply.AsTask()));
            }
        }

        foreach ((string prefix, Task<bool> reply) in requests)
        {
            try
            {
                await reply.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (RequestFailedException e)
            {
                bool isFinal = IsFinal(e.Code);
                if (!isFinal)
                {
                    later.Add(prefix);
                }

                ClientLog.SubscribeAgainFailed(
                    _logger, session, prefix, PeerText.Escape(e.Message),
                    isFinal ? "The client asks again on the next session." : "The client asks again.");
            }
        }

        // A caller that gave up a subscription in the meantime had no session on which to end it. A new subscription since then may have
        // been made before this Unsubscribe.
        string[] givenUp = [.. prefixes.Except(_routing.Prefixes, StringComparer.Ordinal)];
        foreach (string prefix in givenUp)
        {
            session.Protocol.Output.SendControl(ControlType.Unsubscribe, new TopicBody(prefix));
        }

        later.AddRange(givenUp.Intersect(_routing.Prefixes, StringComparer.Ordinal));
        return later;
    }

    // While requests use the session. Ends with it, or with the client.
    private async Task SubscribeLaterAsync(Session session, List<string> prefixes, CancellationToken closing)
    {
        var delays = new ReconnectBackoff(_options.ReconnectDelay, LongestDelay);
        delays.Next();
        try
        {
            while (prefixes.Count != 0)
            {
                await Task.Delay(delays.Next(), _clock.Time, closing).ConfigureAwait(false);
                if (session.IsClosed)
                {
                    return;
                }

                prefixes = await SubscribeAgainAsync(session, [.. prefixes], closing).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            // The client was closed.
        }
    }

    // Whether the server would refuse it again.
    private static bool IsFinal(ErrorCode code) => code is ErrorCode.Forbidden or ErrorCode.MalformedBody or ErrorCode.UnknownType;

    private static ReadOnlyMemory<byte> CopyBody(scoped in RoutedMessage message) => message.Body.ToArray();
}
