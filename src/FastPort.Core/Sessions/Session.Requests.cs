using System.Buffers;
using System.Diagnostics;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Tracing;

namespace FastPort;

// Requests of this side whose callers await the reply.
public sealed partial class Session
{
    private static readonly TimeSpan DefaultRequestTimeout = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Sends a request to the peer and reads its reply. Both server and client can do so. Waits for room in the send queue. Do not await it
    /// in an inline handler. On the accepting side the peer must have said Hello.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="reader">Reads the reply's body, on the session's loop.</param>
    /// <param name="timeout">
    /// Time for the whole request; zero or less for no limit. Defaults to 30 s. Checked by the coarse clock, every 100 ms.
    /// </param>
    /// <param name="cancellationToken">Cancels the request; the peer receives Cancel.</param>
    /// <exception cref="RequestFailedException">The peer answered with an error, or no reply arrived; the exception says which.</exception>
    /// <exception cref="ArgumentException">The body exceeds the frame limit.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task<TResult> RequestAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => Traces.IsOn
            ? RequestTracedAsync(type, body, reader, timeout, cancellationToken)
            : RequestCoreAsync(type, body, reader, timeout, cancellationToken);

    private Task<TResult> RequestTracedAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        Activity? outer = Activity.Current;
        Activity? activity = Traces.StartOutgoing(type, (body as INamedBody)?.Name, ActivityKind.Client);
        Traces.SetPeer(activity, RemoteEndPoint);
        Task<TResult> reply = RequestCoreAsync(type, body, reader, timeout, cancellationToken);
        return activity is null ? reply : Traces.EndWithAsync(reply, activity, outer);
    }

    private async Task<TResult> RequestCoreAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(reader);
        cancellationToken.ThrowIfCancellationRequested();
        ConnectionClock clock = _protocol.Settings.Clock;
        var limit = new TimeLimit(CallerDeadline.Limit(timeout ?? DefaultRequestTimeout));
        AwaitedReply<TResult> pending = AwaitedReply<TResult>.Rent(reader, _protocol.Settings.ContinuesOnLoop);
        SendStatus status;
        while ((status = TryRequest(type, in body, pending, timing: false, limit.Left, out _)) != SendStatus.Queued)
        {
            switch (status)
            {
                case SendStatus.Full:
                    limit.Waits(clock);
                    await WaitForRoomAsync(limit.Left, clock.Time, cancellationToken).ConfigureAwait(false);
                    limit.Waited(clock);
                    break;
                case SendStatus.TooLarge:
                    throw new ArgumentException($"The body has {body.Size} bytes; the frame limit allows {MaxBodyBytes}.", nameof(body));
                case SendStatus.NotReady:
                    throw new RequestFailedException(
                        RequestFailure.NotReady, "The peer has not said Hello; requests to it are refused until then.");
                default:
                    throw new RequestFailedException(RequestFailure.Closed, "The session is closed.");
            }
        }

        CancellationTokenRegistration canceling = pending.CancelThrough(this, cancellationToken);
        try
        {
            return await pending.ReplyAsync().ConfigureAwait(false);
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

    /// <summary>Sends a request of raw bytes to the peer and copies the reply's body. Otherwise as the typed overload.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">Time for the whole request; zero or less for no limit. Defaults to 30 s.</param>
    /// <param name="cancellationToken">Cancels the request; the peer receives Cancel.</param>
    /// <exception cref="RequestFailedException">The peer answered with an error, or no reply arrived; the exception says which.</exception>
    /// <exception cref="ArgumentException">The body exceeds the frame limit.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task<byte[]> RequestAsync(
        ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RequestAsync(
            type,
            new SequenceBody(new ReadOnlySequence<byte>(body)),
            static (scoped in InboundReply reply) => reply.Body.ToArray(),
            timeout,
            cancellationToken);

    /// <summary>Waits for room in the send queue.</summary>
    /// <param name="left">The time left; zero for no limit.</param>
    /// <param name="time">Measures it.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RequestFailedException">There was none in time.</exception>
    internal async Task WaitForRoomAsync(TimeSpan left, TimeProvider time, CancellationToken cancellationToken)
    {
        using var wait = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        try
        {
            await WhenWritableAsync(wait.Token).WaitAsync(ForWait(left), time, cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }
        catch (TimeoutException e)
        {
            throw new RequestFailedException(RequestFailure.TimedOut, "The send queue stayed full.", e);
        }
        finally
        {
            // The connection must not keep an abandoned wait. Not left to the link with the caller's token: this wait may end before the
            // token's callback runs.
            await wait.CancelAsync().ConfigureAwait(false);
        }
    }

    /// <summary>A limit as timers accept it: zero, or more than their maximum of 49 days, means none.</summary>
    internal static TimeSpan ForWait(TimeSpan limit) =>
        limit <= TimeSpan.Zero || limit.TotalMilliseconds >= uint.MaxValue - 1 ? Timeout.InfiniteTimeSpan : limit;
}
