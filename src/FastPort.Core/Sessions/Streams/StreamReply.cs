using System.Buffers;
using System.Diagnostics;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Tracing;
using FastPort.Telemetry;

namespace FastPort.Sessions.Streams;

/// <summary>How a caller makes a call that streams.</summary>
/// <param name="Target">Where the call goes.</param>
/// <param name="Type">Message type.</param>
/// <param name="Request">The requests.</param>
/// <param name="Timeout">Time to the first item of the replies; zero or less for no limit, null for the target's.</param>
/// <param name="WholeTimeout">Time for the whole call; zero or less, or null, for no limit.</param>
/// <param name="Canceled">Cancels the call.</param>
internal sealed record StreamStart(
    IStreamTarget Target, ushort Type, StreamRequest Request, TimeSpan? Timeout, TimeSpan? WholeTimeout, CancellationToken Canceled);

/// <summary>
/// The caller's side of a call that streams. It stays outstanding while items arrive. The thread that removes it from the outstanding
/// requests ends it, once: by the last reply, a failure, or Cancel.
/// </summary>
internal abstract class StreamReply(StreamStart start) : PendingReply
{
    // Canceled when the call ends: the producer of the requests.
    private readonly CancellationTokenSource? _sending = start.Request.IsStream ? new CancellationTokenSource() : null;
    private Session? _session;
    private Activity? _activity;
    private CancellationToken _otherCanceled;

    // Set by the opening and by the end: the second one counts the end.
    private int _isCounted;
    private CancellationTokenRegistration _canceling;
    private CancellationTokenRegistration _cancelingOther;

    /// <summary>Sends the requests; null if there is only one, or the call has not begun.</summary>
    public ItemWriter? Requests { get; private set; }

    /// <summary>The deadline once the first item has come, in milliseconds of the clock; 0 for none.</summary>
    public long WholeDeadlineMilliseconds { get; private set; }

    /// <summary>The time left for the whole call when it is opened; zero for no limit.</summary>
    public TimeSpan WholeLeft { get; private set; }

    /// <summary>Whether an item has come. Loop only.</summary>
    public bool HasItems { get; set; }

    protected StreamStart Start => start;

    /// <summary>Whether the caller has left the call before it was opened. Any thread.</summary>
    protected virtual bool IsLeft => false;

    /// <summary>Whether one reply ends the call, so that its timeout covers all of it.</summary>
    protected virtual bool HasOneReply => false;

    /// <summary>Takes an item. Returns why the call must end; null if the call continues. Loop only, within a burst.</summary>
    public abstract Exception? OnItem(in ReadOnlySequence<byte> body);

    /// <summary>The call, which is no longer outstanding, has failed on this side. Any thread.</summary>
    public void Fail(Exception failure)
    {
        Ended(failure);
        OnEnded(failure, inBurst: false);
    }

    protected internal override void OnReply(scoped in InboundReply reply)
    {
        Exception? failure = null;
        if (reply.IsError)
        {
            failure = reply.ReadFailure();
        }
        else
        {
            failure = OnLast(reply.Body);
        }

        Ended(failure);
        OnEnded(failure, inBurst: true);
    }

    protected internal override void OnFailed(RequestFailure failure, string message) => Fail(failure == RequestFailure.Canceled
        ? new OperationCanceledException(start.Canceled.IsCancellationRequested ? start.Canceled : _otherCanceled)
        : new RequestFailedException(failure, message));

    /// <summary>Prepares to receive the replies of a session. Returns the first grant for them.</summary>
    protected abstract CreditBody Prepare(Session session);

    /// <summary>The call is open.</summary>
    protected virtual void OnOpened()
    {
    }

    /// <summary>Takes the reply that ends the call. Returns what is wrong with it; null for nothing. Loop only.</summary>
    protected abstract Exception? OnLast(in ReadOnlySequence<byte> body);

    /// <summary>The call has ended. Called once.</summary>
    /// <param name="failure">Null for the end in order.</param>
    /// <param name="inBurst">Whether it ended with a reply, on the loop; otherwise on any thread.</param>
    protected abstract void OnEnded(Exception? failure, bool inBurst);

    /// <summary>Begins the call; its requests are then sent by a task.</summary>
    /// <param name="canceled">Cancels the call, as the token of the start does.</param>
    /// <exception cref="RequestFailedException">Nothing was sent; the exception says why.</exception>
    protected async Task OpenAsync(CancellationToken canceled)
    {
        start.Canceled.ThrowIfCancellationRequested();
        canceled.ThrowIfCancellationRequested();
        _otherCanceled = canceled;
        ConnectionClock clock = start.Target.Clock;
        TimeSpan timeout = start.Timeout ?? start.Target.StreamTimeout;
        var whole = new TimeLimit(CallerDeadline.Limit(HasOneReply ? timeout : start.WholeTimeout ?? TimeSpan.Zero));
        whole.Waits(clock);
        var limit = new TimeLimit(Shorter(timeout, whole.Left));
        using CancellationTokenSource? both = canceled.CanBeCanceled && start.Canceled.CanBeCanceled
            ? CancellationTokenSource.CreateLinkedTokenSource(canceled, start.Canceled)
            : null;
        CancellationToken either = both?.Token ?? (canceled.CanBeCanceled ? canceled : start.Canceled);
        _activity = Traces.IsOn
            ? Traces.StartOutgoing(start.Type, start.Request.Name, ActivityKind.Client)
            : null;
        start.Target.Describe(_activity);
        try
        {
            while (!await TryOpenAsync().ConfigureAwait(false))
            {
            }
        }
        catch (Exception e)
        {
            StopActivity(e);
            if (e is OperationCanceledException)
            {
                // With the caller's token.
                start.Canceled.ThrowIfCancellationRequested();
                canceled.ThrowIfCancellationRequested();
            }

            throw;
        }

        // Registered when the call can be canceled: a token that was canceled before cancels it now.
        _canceling = CancelBy(start.Canceled);
        _cancelingOther = CancelBy(canceled);

        async ValueTask<bool> TryOpenAsync()
        {
            limit.Waits(clock);
            Session session = await start.Target.SessionAsync(limit.Left, either).ConfigureAwait(false);
            if (IsLeft)
            {
                throw new OperationCanceledException("The call's reader has left before there was a connection.");
            }

            limit.Waited(clock);
            whole.Waited(clock);
            WholeLeft = whole.Left;
            WholeDeadlineMilliseconds = whole.Left > TimeSpan.Zero
                ? clock.PreciseMilliseconds + (long)whole.Left.TotalMilliseconds
                : 0;
            switch (TryOpen(session, limit.Left))
            {
                case SendStatus.Queued:
                    Opened();
                    return true;
                case SendStatus.Full:
                    limit.Waits(clock);
                    await session.WaitForRoomAsync(limit.Left, clock.Time, either).ConfigureAwait(false);
                    limit.Waited(clock);
                    return false;
                case SendStatus.TooLarge:
                    throw TooLarge($"The body has {start.Request.Size} bytes; the frame limit allows {session.MaxBodyBytes}.");
                case SendStatus.NotReady:
                    throw new RequestFailedException(
                        RequestFailure.NotReady, "The peer has not said Hello; requests to it are refused until then.");
                default:
                    start.Target.Retire(session);
                    return false;
            }
        }
    }

    /// <summary>Cancels the call if it has not ended. Any thread.</summary>
    protected void Cancel() => _session?.Cancel(Correlation);

    /// <summary>The tokens cancel the call no more.</summary>
    protected void Unregister()
    {
        _canceling.Unregister();
        _cancelingOther.Unregister();
    }

    private SendStatus TryOpen(Session session, TimeSpan left)
    {
        if (session.IsClosed)
        {
            return SendStatus.Closed;
        }

        if (!session.Protocol.Output.CanSendUnsolicited)
        {
            return SendStatus.NotReady;
        }

        if (!session.Protocol.Output.CarriesStreams)
        {
            throw new RequestFailedException(
                RequestFailure.NotSupported, "The peer does not support streams: it is older, or has not agreed on extension bit 1.");
        }

        // All of it before the call is outstanding: its replies may come at once.
        _session = session;
        Requests = start.Request.IsStream
            ? new ItemWriter(session.Protocol.Output, session.Protocol.Settings.Options.SendQueueFull, start.Type, FrameFlags.More)
            : null;
        return start.Request.TryOpen(session, start.Type, Prepare(session), this, left, out _);
    }

    private void Opened()
    {
        OnOpened();
        SessionCounters counters = _session!.Protocol.Settings.Telemetry.Counters;
        counters.StreamOpened();
        if (Interlocked.Exchange(ref _isCounted, 1) != 0)
        {
            // It has ended meanwhile.
            counters.StreamEnded();
        }

        if (Requests is not null)
        {
            Requests.Correlation = Correlation;
            _ = Task.Run(SendRequestsAsync);
        }
    }

    private async Task SendRequestsAsync()
    {
        OutgoingRequests outgoing = _session!.Protocol.Requests;
        try
        {
            if (await start.Request.SendAsync(Requests!, _sending!.Token).ConfigureAwait(false))
            {
                outgoing.EndRequests(this);
            }
        }
        catch (ItemTooLargeException e)
        {
            outgoing.Abandon(this, TooLarge(e.Message));
        }
        catch (Exception e)
        {
            outgoing.Abandon(this, e);
        }
    }

    private void Ended(Exception? failure)
    {
        Requests?.End();
        _ = _sending?.CancelAsync();
        if (Interlocked.Exchange(ref _isCounted, 1) != 0)
        {
            _session!.Protocol.Settings.Telemetry.Counters.StreamEnded();
        }

        StopActivity(failure);
    }

    private void StopActivity(Exception? failure)
    {
        if (_activity is not { } activity)
        {
            return;
        }

        if (failure is not null)
        {
            Traces.SetFailed(activity, failure);
        }

        if (_session is { } session)
        {
            // A listener that throws is logged: the caller still waits for the end.
            Traces.Stop(activity, session.Protocol);
        }
        else
        {
            NoContext.Run(static activity => activity.Stop(), activity);
        }
    }

    // The caller's argument "request" is too large; this parameter is the sentence.
    private static ArgumentException TooLarge(string request) => new(request, nameof(request));

    private CancellationTokenRegistration CancelBy(CancellationToken token) =>
        token.UnsafeRegister(static reply => ((StreamReply)reply!).Cancel(), this);

    // Zero or less means none.
    private static TimeSpan Shorter(TimeSpan one, TimeSpan other) =>
        one <= TimeSpan.Zero ? other : other <= TimeSpan.Zero || one < other ? one : other;
}
