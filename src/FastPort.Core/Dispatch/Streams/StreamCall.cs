using System.Buffers;
using System.Diagnostics;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Streams;
using FastPort.Sessions.Tracing;

namespace FastPort.Dispatch.Streams;

/// <summary>
/// The handler's side of a call that streams. It counts as work in progress until the handler has ended. The call ends once: by the
/// handler's last reply or its failure, by Cancel, a violation of the peer, or the end of the session. Whichever thread ends it first
/// writes the last frame, or none.
/// </summary>
internal sealed class StreamCall : IThreadPoolWorkItem, IDeadline
{
    private readonly CancellationTokenSource _canceling = new();
    private readonly FrameProtocol _protocol;
    private readonly OpenStreams _streams;
    private readonly HandlerEntry _handler;
    private readonly FrameHeader _header;
    private readonly Activity? _activity;
    private RentedBuffer _body;
    private int _ended;
    private int _recorded;
    private readonly uint _deadlineMilliseconds;
    private volatile bool _hasRun;
    private long _started;

    /// <param name="protocol">The session.</param>
    /// <param name="streams">The session's open streams.</param>
    /// <param name="handler">The handler, of a type that streams.</param>
    /// <param name="header">The header of the request that opens the call.</param>
    /// <param name="body">Its body; the call disposes it.</param>
    /// <param name="received">When it was received, in nanoseconds of the monotonic clock.</param>
    /// <param name="deadlineMilliseconds">The deadline block of the request; 0 if it has none.</param>
    /// <param name="activity">The call's activity; null for none.</param>
    public StreamCall(
        FrameProtocol protocol, OpenStreams streams, HandlerEntry handler, in FrameHeader header, RentedBuffer body, long received,
        uint deadlineMilliseconds, Activity? activity)
    {
        _protocol = protocol;
        _streams = streams;
        _handler = handler;
        _header = header;
        _body = body;
        protocol.Settings.Memory.Take(body.Length);
        _activity = activity;
        _deadlineMilliseconds = deadlineMilliseconds;
        ReceivedNanoseconds = received;
        SessionOptions options = protocol.Settings.Options;
        Window = new StreamWindow(options);
        Reader = handler.Stream!.CreateReader(Window);
        Writer = handler.Stream.WritesItems
            ? new ItemWriter(protocol.Output, options.SendQueueFull, header.Type, FrameFlags.Reply | FrameFlags.More)
            {
                Correlation = header.Correlation,
            }
            : null;
        Context = new StreamContext(this);
    }

    public Session Session => _protocol.Session;

    public ushort Type => _header.Type;

    public uint Correlation => _header.Correlation;

    public long ReceivedNanoseconds { get; }

    /// <summary>The time left of the caller's limit for the whole call, at least zero; null if it has none.</summary>
    public TimeSpan? TimeLeft =>
        _header.DeadlineSize != 0 ? DeadlineBlock.TimeLeft(ReceivedNanoseconds, _deadlineMilliseconds) : null;

    TimeSpan? IDeadline.TimeLeft => _hasRun ? null : TimeLeft;

    public StreamContext Context { get; }

    /// <summary>Canceled when the call ends before the handler.</summary>
    public CancellationToken Canceled => _canceling.Token;

    /// <summary>The body of the request that opened the call. Until <see cref="ReleaseBody"/>.</summary>
    public ReadOnlyMemory<byte> Body => _body.Memory;

    /// <summary>The requests; null if there is one.</summary>
    public ItemReader? Reader { get; }

    /// <summary>The replies; null if there is one.</summary>
    public ItemWriter? Writer { get; }

    /// <summary>Whether all requests have come. Written by the loop.</summary>
    public bool HasAllRequests { get; private set; }

    /// <summary>Whether the place in the table is taken. Guarded by the table's lock.</summary>
    public bool HoldsPlace { get; set; }

    private StreamWindow Window { get; }

    /// <summary>Begins the call. Loop only.</summary>
    /// <param name="grant">The first grant for the replies, which is in range.</param>
    public void Begin(in CreditBody grant)
    {
        Writer?.Grant(grant.Messages, grant.Bytes);
        if (Reader is null)
        {
            HasAllRequests = true;
        }
        else
        {
            Reader.Open(_protocol.Output, _protocol.Settings.Memory, Correlation, CreditOf.RequestItems);
            _protocol.Output.WriteAndFlush(
                ControlType.Credit, FrameFlags.OneWay, 0, Window.Grant(Correlation, CreditOf.RequestItems));
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>An item of the requests has come. Loop only.</summary>
    public void OnItem(in ReadOnlySequence<byte> body)
    {
        if (HasAllRequests)
        {
            Abort(ErrorCode.MalformedBody, Reader is null
                ? "The call has one request, and an item came after it."
                : "An item came after the end of the requests.");
            return;
        }

        if (Reader!.Add(in body) is not { } failure)
        {
            return;
        }

        switch (failure)
        {
            case StreamViolationException broken:
                Abort(broken.Code, broken.Message);
                break;
            case RequestRefusedException refusal:
                Abort(refusal.Code, refusal.Message);
                break;
            default:
                Threw(failure);
                Abort(ErrorCode.Internal, RequestDispatcher.HandlerFailedText);
                break;
        }
    }

    /// <summary>The peer ends its requests. Loop only.</summary>
    public void OnRequestsEnd(int bodySize)
    {
        if (HasAllRequests || bodySize != 0)
        {
            Abort(ErrorCode.MalformedBody, bodySize != 0
                ? "The end of a stream of requests has an empty body."
                : "The requests of the call have ended already.");
            return;
        }

        HasAllRequests = true;
        Reader!.End();
    }

    /// <summary>The peer grants credit for the replies. Loop only.</summary>
    public void OnCredit(in CreditBody credit)
    {
        if (Writer?.Grant(credit.Messages, credit.Bytes) == false)
        {
            Abort(ErrorCode.MalformedBody, "More credit was granted than a stream may have.");
        }
    }

    /// <summary>Returns the body's memory. By the handler.</summary>
    public void ReleaseBody()
    {
        _protocol.Settings.Memory.Give(_body.Length);
        _body.Dispose();
        _body = default;
    }

    /// <summary>Sends the replies and ends the call.</summary>
    public async Task SendAsync<TReply, TBody>(IAsyncEnumerable<TReply> replies, Func<TReply, TBody> encode)
        where TBody : IFrameBody
    {
        if (replies is null)
        {
            throw new InvalidOperationException("The handler has returned null instead of a stream.");
        }

        if (await StreamPump.RunAsync(replies, encode, Writer!, Record, Canceled).ConfigureAwait(false))
        {
            End(default(EmptyBody));
        }
    }

    /// <summary>Ends the call with a last reply, unless it has ended. By the handler.</summary>
    public void End<TBody>(in TBody body)
        where TBody : IFrameBody
    {
        if (!TryEnd(cancels: false))
        {
            return;
        }

        ErrorCode failure;
        try
        {
            failure = _protocol.Output.Reply(_header, ReceivedNanoseconds, in body);
        }
        catch (Exception e)
        {
            Threw(e);
            failure = ErrorCode.Internal;
            _protocol.Output.Error(_header, ReceivedNanoseconds, failure, RequestDispatcher.HandlerFailedText);
        }

        if (failure != ErrorCode.None)
        {
            Traces.SetFailed(_activity, failure.ToString());
        }

        _protocol.Output.FlushUnlessDeferred();
    }

    /// <summary>Ends the call, unless it has ended, and cancels the handler. Any thread.</summary>
    /// <param name="code">The code for the caller; None if it receives no frame.</param>
    /// <param name="message">The sentence for the caller.</param>
    public void Abort(ErrorCode code = ErrorCode.None, string message = "")
    {
        // The handler ends as soon as it is canceled. A session that is finishing must not close before the caller's error is written.
        _protocol.End.BeginWork();
        if (TryEnd(cancels: true))
        {
            Traces.SetFailed(_activity, code == ErrorCode.None ? nameof(RequestFailure.Canceled) : code.ToString());
            if (code != ErrorCode.None)
            {
                _protocol.Output.Error(_header, ReceivedNanoseconds, code, message);
                _protocol.Output.FlushUnlessDeferred();
            }
        }

        _protocol.End.EndWork();
    }

    void IThreadPoolWorkItem.Execute() => _ = RunAsync();

    // Never throws: in every case the call ends once, and its work.
    private async Task RunAsync()
    {
        _started = MonotonicClock.Nanoseconds;
        if (_activity is not null)
        {
            // In this method and what it calls only.
            Activity.Current = _activity;
        }

        if (TimeLeft is { } left)
        {
            CallerDeadline.Set(this);
            if (left == TimeSpan.Zero)
            {
                Abort(ErrorCode.Timeout, "The call's deadline passed before it was started; it was not run.");
            }
        }

        try
        {
            if (Volatile.Read(ref _ended) == 0)
            {
                await _handler.Stream!.RunAsync(this).ConfigureAwait(false);
            }
        }
        catch (Exception e)
        {
            Failed(e);
        }

        _hasRun = true;
        ReleaseBody();
        Record();
        Traces.Stop(_activity, _protocol);
        _streams.Leave(this);
        _protocol.End.EndWork();
    }

    private void Failed(Exception exception)
    {
        if (exception is OperationCanceledException && _canceling.IsCancellationRequested)
        {
            return;
        }

        var (code, message, detail) = exception switch
        {
            RequestRefusedException refusal => (refusal.Code, refusal.Message, refusal.Detail),
            ItemTooLargeException => (ErrorCode.ReplyTooLarge, exception.Message, default),
            _ => (ErrorCode.Internal, RequestDispatcher.HandlerFailedText, default),
        };
        if (code == ErrorCode.Internal)
        {
            Threw(exception);
        }

        if (TryEnd(cancels: false))
        {
            Traces.SetFailed(_activity, code.ToString());
            _protocol.Output.Error(_header, ReceivedNanoseconds, code, message, detail);
            _protocol.Output.FlushUnlessDeferred();
        }
    }

    // True for the first end. Before the last frame: the caller may open another stream as soon as it has that.
    private bool TryEnd(bool cancels)
    {
        if (Interlocked.Exchange(ref _ended, 1) != 0)
        {
            return false;
        }

        _streams.Remove(this, leaves: !cancels);
        _protocol.Settings.Telemetry.Counters.StreamEnded();
        Writer?.End();
        if (cancels)
        {
            // Callbacks run on the pool.
            _ = _canceling.CancelAsync();
        }

        Reader?.Abort(new OperationCanceledException(_canceling.Token));
        return true;
    }

    private void Threw(Exception exception)
    {
        SessionLog.HandlerFailed(_protocol.Settings.Logger, _protocol.Session, _handler.Name, exception);
        _handler.Series?.RecordError();
        _protocol.SessionSeries?.RecordError();
    }

    // The time to the first item or, without one, to the end: a stream's life is no latency.
    private void Record()
    {
        if (Interlocked.Exchange(ref _recorded, 1) == 0 && _handler.Series is { } series)
        {
            long now = MonotonicClock.Nanoseconds;
            long whole = now - ReceivedNanoseconds, waited = _started - ReceivedNanoseconds;
            series.RecordHandled(whole, waited, now - _started, MonotonicClock.ToTimestamp(now));
            _protocol.SessionSeries?.RecordHandled(whole, waited, now - _started);
        }
    }
}
