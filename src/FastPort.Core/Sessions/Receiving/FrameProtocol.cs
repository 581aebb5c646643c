using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Sending;
using FastPort.Telemetry;

namespace FastPort.Sessions.Receiving;

/// <summary>
/// FastPort's frame protocol on one connection, the same on both sides: decodes in place and gives each frame to whom it concerns:
/// <see cref="Handshake"/>, <see cref="ControlMessages"/>, <see cref="SessionDispatcher"/>, or <see cref="OutgoingRequests"/> for replies.
/// <para>
/// The decode loop and everything it calls run on the connection's loop. What other threads touch: <see cref="Output"/>,
/// <see cref="Replies"/> and <see cref="Requests"/> (locks of their own), the request queue (its own), and the counters here, which are
/// interlocked or volatile. A session ends in order through <see cref="SessionShutdown"/>: it counts the work under way, a burst being one
/// piece of it.
/// </para>
/// </summary>
internal sealed partial class FrameProtocol : IConnectionProtocol, ILoopWatch, IMemoryUser
{
    private readonly SessionSettings _settings;
    private readonly SessionDeadlines _deadlines;
    private readonly Handshake? _handshake;
    private readonly Connection _connection;
    private readonly SessionShutdown _shutdown;
    private readonly TrafficMeter _traffic;
    private readonly ControlMessages _control;
    private long _messagesReceived;
    private long _stampedBytes = -1;
    private long _stamp;
    private TurnBudget _turnBudget = new();
    private bool _yielded;
    private bool _paused;
    private CloseReason? _stopping;
    private volatile bool _closed;

    /// <param name="settings">Shared by the sessions of one server or client.</param>
    /// <param name="connection">The connection that is started with this protocol.</param>
    public FrameProtocol(SessionSettings settings, Connection connection)
    {
        _settings = settings;
        _connection = connection;
        _deadlines = new SessionDeadlines(settings.Options, settings.Clock);
        _handshake = settings.Handshake is null ? null : new Handshake(settings.Handshake, this);
        Output = new FrameOutput(connection, settings.Options) { CanSendUnsolicited = _handshake is null };
        Session = new Session(this, connection);
        SessionSeries = settings.SessionStats?.ForSession((ulong)Session.Id);
        _shutdown = new SessionShutdown(this, connection);
        Replies = new Replies(Output, settings.Telemetry);
        Requests = new OutgoingRequests(this, connection, Output, _shutdown);
        Dispatcher = settings.CreateDispatcher(this);
        _control = new ControlMessages(this, Replies, _shutdown, Dispatcher);
        _traffic = new TrafficMeter(connection, this, settings.Telemetry.Counters);
    }

    public Session Session { get; }

    public FrameOutput Output { get; }

    public Replies Replies { get; }

    public OutgoingRequests Requests { get; }

    public SessionDispatcher Dispatcher { get; }

    /// <summary>How the session ends, and what it still has to do before.</summary>
    public SessionShutdown Shutdown => _shutdown;

    /// <summary>The session's own latencies; null where sessions are not measured one by one.</summary>
    public LatencySeries? SessionSeries { get; }

    public SessionSettings Settings => _settings;

    public long UnfinishedSince => _deadlines.UnfinishedSince;

    public long MessagesReceived => Volatile.Read(ref _messagesReceived);

    public bool IsClosed => _closed;

    /// <summary>Whether closing has begun: nobody but the requests in flight is served any more, and the routing id is free.</summary>
    public bool IsEnding => _connection.IsClosing || EndReason is not null;

    /// <summary>Why; null where it has not begun, or is not known yet.</summary>
    public CloseReason? EndReason => _connection.ClosingReason ?? _shutdown.Reason ?? Volatile.Read(ref _stopping);

    /// <summary>
    /// Whether what the peer writes may be logged: always on the connecting side, which chose its peer; on the accepting one after Hello.
    /// </summary>
    public bool IsPeerKnown => _handshake is null || Session.IsIdentified;

    public void OnOpened(Connection connection)
    {
        _deadlines.Start(connection, handshakeRequired: _handshake?.IsRequired == true);
        _settings.Telemetry.Counters.SessionOpened();
        SessionLog.Opened(_settings.Logger, Session);
        _settings.Host.OnOpened(Session);
    }

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        long now = MonotonicClock.Nanoseconds;
        long bytes = _connection.BytesReceived;
        if (bytes != _stampedBytes)
        {
            // Not after a mere resume: what waited in the ring has been in memory since it came.
            _stamp = now;
        }

        // A paused burst is still under way: what lies unread in the ring was received and will be answered.
        if (!_paused)
        {
            _shutdown.BeginWork();
        }

        _paused = _yielded = false;
        _turnBudget.BeginBurst(now);
        Output.BeginDeferral();
        Dispatcher.BeginBurst(_stamp, now);

        // After that: who sees this sees the burst.
        Volatile.Write(ref _stampedBytes, bytes);
        try
        {
            ReceiveOutcome outcome = Decode(input, _stamp);
            _paused = outcome == ReceiveOutcome.Pause;

            // Who yields goes on reading: the peer's deadlines run on.
            _deadlines.AfterBurst(input, _paused && !_yielded);
            return outcome;
        }
        finally
        {
            if (!_yielded)
            {
                _turnBudget.EndBurst(Dispatcher.LastReading);
            }

            Dispatcher.EndBurst();
            FrameOutput.EndDeferral();
            if (!_paused)
            {
                _shutdown.EndWork();
            }
        }
    }

    public void OnInputEnded(bool truncated)
    {
        if (truncated)
        {
            _connection.Close(CloseReason.PeerTruncated);
        }
        else
        {
            _deadlines.InputEnded();
            _shutdown.FinishWhenIdle(CloseReason.PeerClosed);
        }
    }

    public void OnOutputDrained() => _connection.ResumeReading();

    public void OnWriteTimeout(CloseReason reason) => SendGoodbye(reason);

    public long OnTick(long nowMilliseconds)
    {
        _traffic.Report();
        long due = Requests.OnTick(nowMilliseconds);

        // Components pause the session while they are awaited, and a paused one is asked at every tick.
        _handshake?.OnTick(nowMilliseconds);
        Dispatcher.OnTick(nowMilliseconds);
        switch (_deadlines.Check(nowMilliseconds, out CloseReason? reason, out long nextCheck))
        {
            case DeadlineAction.Close:
                CloseWithGoodbye(reason!);
                break;
            case DeadlineAction.Ping:
                Requests.SendHeartbeat();
                break;
        }

        return Math.Min(Math.Min(due, nextCheck), _shutdown.OnTick(nowMilliseconds));
    }

    long ILoopWatch.Watch(long nowMilliseconds)
    {
        // Bytes for which there has been no burst. A burst that is resumed was paused.
        bool burstIsDue = Math.Max(Volatile.Read(ref _stampedBytes), 0) != _connection.BytesReceived;
        return Dispatcher.Watch(nowMilliseconds, burstIsDue);
    }

    public bool OnStopping(CloseReason reason)
    {
        // Its end is the server's, which aborts what is left then.
        _shutdown.Stop(reason, _settings.ShutdownGrace, TimeSpan.FromDays(1));
        return true;
    }

    public void OnClosed(CloseReason reason)
    {
        _closed = true;
        _traffic.Report();
        Dispatcher.OnClosed();
        _handshake?.OnClosed(reason);
        Session.Holders.ReleaseAll(Session);
        _settings.SessionStats?.EndSession((ulong)Session.Id);
        _settings.Telemetry.CountClose(reason);
        _settings.Telemetry.Counters.SessionClosed();
        if (reason.Kind is CloseKind.PeerClosed or CloseKind.LocalClosed or CloseKind.Stopping or CloseKind.ConnectionLost)
        {
            SessionLog.Closed(_settings.Logger, Session, reason);
        }
        else
        {
            SessionLog.ClosedOnFault(_settings.Logger, Session, reason);
        }

        Requests.OnClosed(reason);
        _settings.Host.OnClosed(Session, reason);
    }

    /// <summary>
    /// Sends a request of this side's if there is room; the failure of one that was not sent is the returned status alone.
    /// </summary>
    public SendStatus TryRequest<TBody>(
        ushort type, scoped in TBody body, PendingReply pending, bool timing, TimeSpan timeout, out uint correlation)
        where TBody : IFrameBody, allows ref struct => Requests.TrySend(type, in body, pending, timing, timeout, out correlation);

    /// <summary>All queued requests have been completed.</summary>
    public void EndQueuedWork() => _shutdown.EndWork();

    public void ResumeReading() => _connection.ResumeReading();

    /// <summary>The frame at hand has made work beyond its own, as much as so many frames; loop only.</summary>
    public void SpendTurn(int frames) => _turnBudget.Spend(frames);

    /// <summary>
    /// Takes no new requests, answers what is in flight and closes; the peer is told if it has said Hello. Where that takes longer than the
    /// timeout the connection is aborted. Any thread.
    /// </summary>
    public void Stop(CloseReason reason, TimeSpan grace, TimeSpan timeout)
    {
        // At once, for who asks for the routing id meanwhile; the rest on the loop.
        Interlocked.CompareExchange(ref _stopping, reason, null);
        OnLoop(protocol => protocol._shutdown.Stop(reason, grace, timeout));
    }

    /// <summary>Sends no more requests and closes when those in flight have their replies. Any thread.</summary>
    public void Leave(CloseReason reason) => OnLoop(protocol => protocol._shutdown.Leave(reason));

    /// <summary>The Welcome came: the peer's limit and heartbeat apply.</summary>
    public void Welcomed(in WelcomeBody welcome)
    {
        if (welcome.MaxFrameBytes != 0)
        {
            Output.Limit = (int)Math.Clamp(welcome.MaxFrameBytes, FrameLimits.Minimum, (uint)_settings.Options.MaxFrameBytes);
        }

        Session.IsIdentified = true;
        TimeSpan heartbeat = _settings.Options.HeartbeatInterval;
        if (welcome.HeartbeatMilliseconds != 0 && heartbeat > TimeSpan.Zero)
        {
            heartbeat = TimeSpan.FromMilliseconds(Math.Min(welcome.HeartbeatMilliseconds, heartbeat.TotalMilliseconds));
        }

        _deadlines.Identified(heartbeat);
    }

    /// <summary>The accepting side has welcomed the peer.</summary>
    public void Identified()
    {
        Output.CanSendUnsolicited = true;
        Session.IsIdentified = true;
        _deadlines.Identified(_settings.Options.HeartbeatInterval);
        _settings.Host.OnIdentified(Session);
    }

    /// <summary>All that follows from the peer's Hello has been done.</summary>
    public void AfterHello() => _shutdown.AfterHello();

    /// <summary>Says Goodbye where the peer may hear it, then closes. Nothing in flight is waited for. Any thread.</summary>
    public void CloseWithGoodbye(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _stopping, reason, null);
        OnLoop(protocol =>
        {
            protocol._shutdown.Telling(reason);
            protocol.SendGoodbye(reason);
            protocol._connection.Close(reason);
        });
    }

    void IMemoryUser.TellAndClose(CloseReason reason) => CloseWithGoodbye(reason);

    /// <summary>On the loop, where Goodbyes are written: at once where this is it.</summary>
    private void OnLoop(Action<FrameProtocol> action)
    {
        if (_connection.IsOnLoop)
        {
            action(this);
        }
        else
        {
            // At once: who ends a session sends nothing after that.
            Output.Leave();
            _connection.Post(static state =>
            {
                var (protocol, posted) = ((FrameProtocol, Action<FrameProtocol>))state!;
                posted(protocol);
            }, (this, action));
        }
    }

    /// <summary>Says Goodbye where the peer may hear it. On the loop.</summary>
    public void SendGoodbye(CloseReason reason)
    {
        // A server sends nothing unsolicited before Hello; the connecting side has no such rule.
        if (Output.CanSendUnsolicited)
        {
            Output.WriteGoodbye(new CodeBody(reason.GetErrorCode(), reason.Message));
        }
    }

    /// <summary>Answers Unauthenticated, where an answer is wanted, and closes.</summary>
    /// <param name="request">What is refused.</param>
    /// <param name="received">When it was received.</param>
    /// <param name="reason">Why, for the log.</param>
    /// <param name="message">The sentence for the peer. Defaults to that of the reason.</param>
    public void RefuseUnauthenticated(in FrameHeader request, long received, CloseReason reason, string? message = null)
    {
        Replies.Refuse(request, received, ErrorCode.Unauthenticated, message ?? reason.Message);
        _connection.Close(reason);
    }
}
