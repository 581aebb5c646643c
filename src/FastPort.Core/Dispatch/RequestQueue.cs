using System.Diagnostics;
using System.Threading.Channels;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Sending;
using FastPort.Telemetry;

namespace FastPort.Dispatch;

/// <summary>
/// The queued requests of one session: a channel that the loop writes and one worker reads, so that requests start in arrival order. The
/// worker starts the next queued handler while fewer than the allowed number run. A handler runs on the worker's thread until its first
/// await. Inline requests that arrive while others wait here (<see cref="HoldsBack"/>) are queued behind them; the worker runs them in
/// order, without taking a slot. Created when the session's first queued request arrives.
/// <para>
/// A queued request counts as started when its handler has reached its first await, an inline one when it has ended, so that two inline
/// handlers of a session never run at once. Only the loop counts enqueued requests. The worker counts started ones, and the loop does while
/// none waits, for handlers that begin there; the loop compares the two.
/// </para>
/// <para>
/// The channel is unbounded, because reads of a bounded one take a lock. Instead the loop counts requests from enqueueing to completion
/// (<see cref="TryReserve"/>) and stops reading the socket at the bound. <see cref="_gate"/> guards the table of requests in flight, which
/// only Cancel and the end of the session read. Completions are counted with interlocked operations, because several requests may complete
/// at once.
/// </para>
/// </summary>
internal sealed class RequestQueue
{
    // Replies of handlers that complete synchronously are flushed together, but none waits longer than this for the next.
    private const long FlushAfterNanoseconds = 50_000;

    // Bytes taken from the shared memory budget at a time: once for many messages.
    private const long MemoryStep = 256 * 1024;

    private readonly FrameProtocol _protocol;
    private readonly RequestDispatcher _dispatcher;
    private readonly Channel<RequestContext> _channel;

    // The free places of MaxConcurrency. Null if there is one place and no handler begins on the loop: then the worker alone starts
    // requests, and waits for the end of the one before.
    private readonly SemaphoreSlim? _slots;
    private readonly int _maxInFlight;
    private readonly long _maxBytes;
    private readonly MemoryBudget _memory;
    private readonly Lock _gate = new();
    private readonly RequestTable _inFlight = new();
    private long _enqueuedBytes;
    private long _completed;
    private long _completedBytes;

    // Taken from the shared budget by the loop; returned by the thread whose completed request leaves less than FreeBytes queued.
    private long _taken;
    private int _waiting;
    private int _awaitsStarts;
    private long _enqueued;
    private long _started;

    public RequestQueue(FrameProtocol protocol, RequestDispatcher dispatcher, SessionOptions options, bool beginsOnLoop)
    {
        _dispatcher = dispatcher;
        _protocol = protocol;
        _maxInFlight = options.MaxInFlightRequests;
        _maxBytes = options.MaxQueuedBytes;
        _memory = protocol.Settings.Memory;
        _slots = options.MaxConcurrency > 1 || beginsOnLoop ? new SemaphoreSlim(options.MaxConcurrency) : null;
        _channel = Channel.CreateUnbounded<RequestContext>(new UnboundedChannelOptions
        {
            SingleReader = true,
            SingleWriter = true,
            AllowSynchronousContinuations = false,
        });
        _ = RunAsync();
    }

    /// <summary>Whether earlier requests are waiting, which the current one must not overtake. Loop only.</summary>
    public bool HoldsBack => _enqueued != Volatile.Read(ref _started);

    /// <summary>
    /// Whether all queued requests have started; if not, the protocol is resumed as soon as they have. Loop only.
    /// </summary>
    public bool TryAwaitStarts()
    {
        // The flag is published before the second check, and the loop enqueues nothing in between: either the worker sees the flag, or this
        // thread sees the worker's last start.
        Interlocked.Exchange(ref _awaitsStarts, 1);
        return !HoldsBack && Interlocked.Exchange(ref _awaitsStarts, 0) == 1;
    }

    /// <summary>Whether one more request fits; if not, the protocol is resumed as soon as one does. Loop only.</summary>
    public bool TryReserve()
    {
        if (HasRoom())
        {
            return true;
        }

        // The flag is published before the second check: either a completing thread sees the flag, or this thread sees its room.
        Interlocked.Exchange(ref _waiting, 1);
        return HasRoom() && Interlocked.Exchange(ref _waiting, 0) == 1;
    }

    /// <summary>
    /// Begins a request here, whose handler does not block, unless others wait or as many run as may: then it is queued. After
    /// <see cref="TryReserve"/> has returned true. Loop only.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="burst">The current burst, whose messages do not have the time that is spent here.</param>
    public void BeginOrEnqueue(RequestContext request, HandledBurst burst)
    {
        if (HoldsBack || !_slots!.Wait(0))
        {
            Enqueue(request);
            return;
        }

        Count(request);
        _enqueued++;
        long now = MonotonicClock.Nanoseconds;
        burst.Interrupt(now);
        if (IsRefusedAsOverdue(request, now))
        {
            _slots.Release();
            Completed(request);
            burst.Resume(now);
            Started();
            return;
        }

        ValueTask<long> handling = RunQueuedAsync(request, now);
        if (handling.IsCompleted)
        {
            burst.Resume(handling.Result);
        }
        else
        {
            request.Detach();
            burst.Resume(MonotonicClock.Nanoseconds);
        }

        Started();
    }

    /// <summary>Queues a request after <see cref="TryReserve"/> has returned true. Loop only.</summary>
    public void Enqueue(RequestContext request)
    {
        Count(request);
        if (_channel.Writer.TryWrite(request))
        {
            _enqueued++;
        }
        else
        {
            // Only after Complete: the session has ended.
            Completed(request);
        }
    }

    /// <summary>The requester canceled a request.</summary>
    public void Cancel(uint correlation)
    {
        RequestContext? request;
        lock (_gate)
        {
            request = _inFlight.Find(correlation);
        }

        request?.Abort();
    }

    /// <summary>The session has ended: cancels running handlers; waiting ones never start.</summary>
    public void Complete()
    {
        _channel.Writer.TryComplete();
        List<RequestContext> requests;
        lock (_gate)
        {
            requests = _inFlight.ToList();
        }

        foreach (RequestContext request in requests)
        {
            request.Abort();
        }
    }

    private void Count(RequestContext request)
    {
        _enqueuedBytes += request.BodySize;
        lock (_gate)
        {
            _inFlight.Add(request);
        }
    }

    // Loop only. If the shared budget is used up, requests of this session are in the queue; their completion resumes the session.
    private bool HasRoom()
    {
        Debug.Assert(_protocol.Session.Connection.IsOnLoop);
        long bytes = _enqueuedBytes - Interlocked.Read(ref _completedBytes);
        return _enqueued - Interlocked.Read(ref _completed) < _maxInFlight
            && bytes < _maxBytes
            && (bytes < MemoryBudget.FreeBytes || bytes < MemoryBudget.FreeBytes + Volatile.Read(ref _taken) || TryTakeMemory());
    }

    private bool TryTakeMemory()
    {
        if (!_memory.TryTake(MemoryStep))
        {
            return false;
        }

        Interlocked.Add(ref _taken, MemoryStep);
        if (_enqueuedBytes - Interlocked.Read(ref _completedBytes) < MemoryBudget.FreeBytes)
        {
            // Requests completed in the meantime, and perhaps none will later: the code that completed the last one has not seen the taken
            // requests.
            _memory.Give(Interlocked.Exchange(ref _taken, 0));
        }

        return true;
    }

    private async Task RunAsync()
    {
        ChannelReader<RequestContext> reader = _channel.Reader;
        Task<long>? running = null;
        while (await reader.WaitToReadAsync().ConfigureAwait(false))
        {
            long now = MonotonicClock.Nanoseconds;
            long flushed = now;
            while (reader.TryRead(out RequestContext? request))
            {
                // A full send queue delays the next request, as it pauses the session's reads. The connecting side continues with messages
                // that need no reply: if both sides waited for the other to read, they would deadlock.
                if (_protocol.Output.QueueLimit.IsFull && (_protocol.Settings.Handshake is not null || !request.IsOneWay))
                {
                    _protocol.Output.Flush();
                    await _protocol.Output.QueueLimit.WhenDrainedAsync().ConfigureAwait(false);
                    now = MonotonicClock.Nanoseconds;
                }

                bool isInline = request.Handler.Inline is not null;
                if (!isInline && running is { IsCompleted: false })
                {
                    // The next request starts when the previous one has ended: one clock reading per request.
                    _protocol.Output.Flush();
                    now = await running.ConfigureAwait(false);
                }

                if (!isInline && _slots is not null && !_slots.Wait(0))
                {
                    _protocol.Output.Flush();
                    await _slots.WaitAsync().ConfigureAwait(false);
                    now = MonotonicClock.Nanoseconds;
                }

                if (now < request.ReceivedNanoseconds)
                {
                    // The request came after the last reading of the clock, which was the end of the request before.
                    now = MonotonicClock.Nanoseconds;
                }

                // During the waits the requester may have canceled or given up, or the session may have ended.
                if (_protocol.End.State == EndState.Closed || request.IsAborted || IsRefusedAsOverdue(request, now))
                {
                    if (!isInline)
                    {
                        _slots?.Release();
                    }

                    Completed(request);
                }
                else if (isInline)
                {
                    now = RunInline(request, now);
                }
                else
                {
                    ValueTask<long> handling = RunQueuedAsync(request, now);
                    if (handling.IsCompleted)
                    {
                        now = handling.Result;
                    }
                    else
                    {
                        request.Detach();
                        running = _slots is null ? handling.AsTask() : null;
                        now = MonotonicClock.Nanoseconds;
                    }
                }

                Started();
                if (now - flushed > FlushAfterNanoseconds)
                {
                    _protocol.Output.Flush();
                    flushed = now;
                }
            }

            _protocol.Output.Flush();
        }
    }

    private void Started()
    {
        // A thread that reads this count sees the handler's effects. A full fence: see TryAwaitStarts.
        long started = Interlocked.Increment(ref _started);
        if (Volatile.Read(ref _awaitsStarts) != 0 && started == Volatile.Read(ref _enqueued)
            && Interlocked.Exchange(ref _awaitsStarts, 0) == 1)
        {
            _protocol.Session.Connection.ResumeReading();
        }
    }

    private static bool IsRefusedAsOverdue(RequestContext request, long now)
    {
        if (!request.IsOverdue(now))
        {
            return false;
        }

        request.Fail(ErrorCode.Timeout, "The request's deadline passed before it was started; it was not run.");
        return true;
    }

    // Never throws: in every case the request is answered once and completed. Returns when it ended.
    private async ValueTask<long> RunQueuedAsync(RequestContext request, long started)
    {
        if (request.Handler is TracedEntry traced)
        {
            // In this method and what it calls only: an async method's changes end at its first await for the thread that called it.
            Activity.Current = traced.Activity;
        }

        if (request.HasDeadline)
        {
            // As the activity.
            CallerDeadline.Set(request);
        }

        try
        {
            await request.Handler.Queued!(request).ConfigureAwait(false);
            if (!request.Answered)
            {
                request.Reply(default(EmptyBody));
            }
        }
        catch (Exception e)
        {
            _dispatcher.HandlerFailed(request, e);
        }

        long ended = Handled(request, started);
        _slots?.Release();
        return ended;
    }

    private long RunInline(RequestContext request, long started)
    {
        // The handler's messages are sent with the worker's next flush, as on the loop.
        FrameOutput? outer = _protocol.Output.EnterDeferral();
        _dispatcher.RunQueuedInline(request);
        FrameOutput.RestoreDeferral(outer);
        return Handled(request, started);
    }

    private long Handled(RequestContext request, long started)
    {
        long ended = MonotonicClock.Nanoseconds;
        if (request.Handler.Series is { } series)
        {
            long whole = ended - request.ReceivedNanoseconds, waited = started - request.ReceivedNanoseconds;
            series.RecordHandled(whole, waited, ended - started, MonotonicClock.ToTimestamp(ended));
            _protocol.SessionSeries?.RecordHandled(whole, waited, ended - started);
        }

        Completed(request);
        return ended;
    }

    private void Completed(RequestContext request)
    {
        lock (_gate)
        {
            _inFlight.Remove(request);
        }

        long completedBytes = Interlocked.Add(ref _completedBytes, request.BodySize);
        if (Volatile.Read(ref _taken) != 0 && Volatile.Read(ref _enqueuedBytes) - completedBytes < MemoryBudget.FreeBytes)
        {
            _memory.Give(Interlocked.Exchange(ref _taken, 0));
        }

        request.End();
        Interlocked.Increment(ref _completed);
        if (Volatile.Read(ref _waiting) != 0 && Interlocked.Exchange(ref _waiting, 0) == 1)
        {
            _protocol.Session.Connection.ResumeReading();
        }

        _protocol.End.EndWork();
    }
}
