using System.Buffers;
using System.Diagnostics;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Tracing;

namespace FastPort;

// Requests and one-way messages: each waits for a session and for room, within one time limit.
public sealed partial class FastPortClient
{
    /// <summary>Sends a request and reads its reply.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="reader">Reads the reply's body, on the session's loop.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero or less for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the request; the client sends Cancel to the server.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came; the exception says which.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task<TResult> RequestAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => Traces.IsOn
            ? RequestTracedAsync(type, body, reader, timeout, cancellationToken)
            : RequestCoreAsync(type, body, reader, timeout, cancellationToken);

    // The activity also covers the wait for a connection and a second attempt: the whole wait of the caller.
    private Task<TResult> RequestTracedAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        Activity? outer = Activity.Current;
        Activity? activity = Traces.StartOutgoing(type, (body as INamedBody)?.Name, ActivityKind.Client);
        Traces.SetServer(activity, _endpoint);
        Task<TResult> reply = RequestCoreAsync(type, body, reader, timeout, cancellationToken);
        return activity is null ? reply : Traces.EndWithAsync(reply, activity, outer);
    }

    private async Task<TResult> RequestCoreAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(reader);
        cancellationToken.ThrowIfCancellationRequested();
        var limit = new TimeLimit(CallerDeadline.Limit(timeout ?? _options.RequestTimeout));
        while (true)
        {
            Session? session = _slot.ForRequests;
            if (session is null)
            {
                limit.Waits(_clock);
                session = await WaitForSessionAsync(limit.Left, cancellationToken).ConfigureAwait(false);
                limit.Waited(_clock);
            }

            AwaitedReply<TResult> pending = AwaitedReply<TResult>.Rent(reader, _options.RunContinuationsOnLoop);
            SendStatus status = session.TryRequest(type, in body, pending, _options.Timing, limit.Left, out _);
            if (status == SendStatus.Queued)
            {
                limit.Waits(pending);
                CancellationTokenRegistration canceling = pending.CancelThrough(session, cancellationToken);
                try
                {
                    return await pending.ReplyAsync().ConfigureAwait(false);
                }
                catch (RequestFailedException) when (
                    pending.WasRefusedByStop && _options.Reconnect && !_closing.IsCancellationRequested)
                {
                    // The server has not run the request: retry it on the next session. This one ends when its other requests have their
                    // replies, also if the server says no Goodbye.
                    session.Protocol.Leave(CloseReason.LocalClosed);
                    _slot.Retire(session);
                    limit.Waited(_clock);
                    continue;
                }
                catch (OperationCanceledException)
                {
                    throw new OperationCanceledException(cancellationToken);
                }
                finally
                {
                    canceling.Dispose();
                    pending.Return();
                }
            }

            pending.Return();
            switch (status)
            {
                case SendStatus.Full:
                    limit.Waits(_clock);
                    await session.WaitForRoomAsync(limit.Left, _clock.Time, cancellationToken).ConfigureAwait(false);
                    limit.Waited(_clock);
                    break;
                case SendStatus.TooLarge:
                    throw new ArgumentException(
                        $"The body has {body.Size} bytes; the frame limit allows {session.MaxBodyBytes}.",
                        nameof(body));
                default:
                    _slot.Retire(session);
                    break;
            }
        }
    }

    /// <summary>Sends a request of raw bytes and copies the reply's body.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero or less for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the request; the client sends Cancel to the server.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came; the exception says which.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task<byte[]> RequestAsync(
        ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RequestAsync(
            type,
            new SequenceBody(new ReadOnlySequence<byte>(body)),
            static (scoped in InboundReply reply) => reply.Body.ToArray(),
            timeout,
            cancellationToken);

    /// <summary>Sends a one-way message, waiting for a connection and for room in the send queue.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the body is too large.</exception>
    /// <exception cref="RequestFailedException">Nothing was sent: there was no connection in time, or the client is closed.</exception>
    public ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <inheritdoc cref="SendAsync{TBody}"/>
    public ValueTask SendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        SendAsync(type, new SequenceBody(new ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>As <see cref="SendAsync{TBody}"/>, with a status instead of an exception if the body is too large.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    /// <returns>Queued, Dropped or TooLarge.</returns>
    /// <exception cref="RequestFailedException">Nothing was sent: there was no connection in time, or the client is closed.</exception>
    public async ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        while (true)
        {
            Session session = Session ?? await WaitForSessionAsync(_options.RequestTimeout, cancellationToken).ConfigureAwait(false);
            SendStatus status = await session.TrySendAsync(type, body, cancellationToken).ConfigureAwait(false);
            if (status != SendStatus.Closed)
            {
                return status;
            }

            _slot.Retire(session);
        }
    }

    /// <inheritdoc cref="TrySendAsync{TBody}"/>
    public ValueTask<SendStatus> TrySendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        TrySendAsync(type, new SequenceBody(new ReadOnlySequence<byte>(body)), cancellationToken);

    private async ValueTask<Session> WaitForSessionAsync(TimeSpan limit, CancellationToken cancellationToken)
    {
        ValueTask<Session> session = _slot.GetAsync();
        if (session.IsCompletedSuccessfully)
        {
            return session.Result;
        }

        Task<Session> next = session.AsTask();
        try
        {
            return await next.WaitAsync(Session.ForWait(limit), _clock.Time, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException e)
        {
            string last = _slot.LastFailure is { } why ? $" The last attempt failed: {why}" : string.Empty;
            throw new RequestFailedException(
                RequestFailure.TimedOut, $"There was no connection to {_options.Endpoint} in time.{last}", e);
        }
    }
}
