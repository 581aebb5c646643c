using System.Diagnostics;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Sending;
using FastPort.Telemetry;

namespace FastPort.Sessions.Receiving;

/// <summary>
/// FastPort's frame protocol on one connection, the same on both sides. Decodes frames in place and passes each to its receiver:
/// <see cref="Handshake"/>, <see cref="ControlMessages"/>, <see cref="SessionDispatcher"/>, or <see cref="OutgoingRequests"/> for replies.
/// <para>
/// The decode loop and everything it calls run on the connection's loop. Other threads use <see cref="Output"/> and
/// <see cref="Requests"/> (with their own locks), the request queue (its own), <see cref="End"/>, and the counters here, which are
/// interlocked or volatile. The parts do not know this class: they return what is to be done, and it is done here.
/// </para>
/// </summary>
internal sealed partial class FrameProtocol : IConnectionProtocol, ILoopWatch, IMemoryUser
{
    private readonly SessionSettings _settings;
    private readonly SessionDeadlines _deadlines;
    private readonly Handshake? _handshake;
    private readonly Connection _connection;
    private readonly SessionEnd _end;
    private readonly TrafficMeter _traffic;
    private readonly int _maxFrameBytes;
    private readonly ControlMessages _control;
    private long _messagesReceived;
    private long _stampedBytes = -1;
    private long _stamp;
    private TurnBudget _turnBudget = new();
    private bool _yielded;
    private bool _paused;
    private bool _waitsForReader;

    /// <param name="settings">Settings shared by the sessions of one server or client.</param>
    /// <param name="connection">The connection that is started with this protocol.</param>
    public FrameProtocol(SessionSettings settings, Connection connection)
    {
        _settings = settings;
        _maxFrameBytes = settings.Options.MaxFrameBytes;
        _connection = connection;
        _deadlines = new SessionDeadlines(settings.Options, settings.Clock);
        _end = new SessionEnd(connection, settings.Clock);
        Session = new Session(this, connection);
        Output = new FrameOutput(connection, settings.Options, _end, settings.Telemetry)
        {
            CanSendUnsolicited = settings.Handshake is null,
        };
        _handshake = settings.Handshake is null ? null : new Handshake(settings.Handshake, settings, Session, Output);
        Requests = new OutgoingRequests(settings, Session, Output, _end);
        Detached = new DetachedRequests(_end, settings.Options.MaxInFlightRequests);
        Dispatcher = settings.CreateDispatcher(this);
        _control = new ControlMessages(settings, Session, Output, Dispatcher);
        _traffic = new TrafficMeter(settings, Session);
    }

    public Session Session { get; }

    public FrameOutput Output { get; }

    public OutgoingRequests Requests { get; }

    public SessionDispatcher Dispatcher { get; }

    /// <summary>The requests whose handlers have returned and whose answers come later.</summary>
    public DetachedRequests Detached { get; }

    /// <summary>The end of the session: its state, its reason, and the work under way.</summary>
    public SessionEnd End => _end;

    /// <summary>The session's own latencies, from its beginning to its end; null if they are not measured per session.</summary>
    public LatencySeries? SessionSeries { get; private set; }

    public SessionSettings Settings => _settings;

    public long UnfinishedSince => _deadlines.UnfinishedSince;

    public long MessagesReceived => Volatile.Read(ref _messagesReceived);

    public void OnOpened(Connection connection)
    {
        _rates = _settings.Rates?.Open(connection.RemoteEndPoint);
        _handshake?.Rates = _rates;
        _chargedBytes = connection.BytesReceived;
        SessionSeries = _settings.SessionStats?.ForSession((ulong)Session.Id);
        _deadlines.Start(connection, handshakeRequired: _handshake?.IsRequired == true);
        _settings.Telemetry.Counters.SessionOpened();
        SessionLog.Opened(_settings.Logger, Session);
        _settings.Host.OnOpened(Session);
    }

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        Debug.Assert(_connection.IsOnLoop);
        long now = MonotonicClock.Nanoseconds;
        long bytes = _connection.BytesReceived;
        if (bytes != _stampedBytes)
        {
            // Not after a mere resume: the unread bytes have been in memory since they arrived.
            _stamp = now;
        }

        if (_rates is not null && IsHeld(_rates, input, now))
        {
            Volatile.Write(ref _stampedBytes, bytes);
            return ReceiveOutcome.Pause;
        }

        long messages = _messagesReceived;
        // A paused burst is still under way: its unread bytes were received and will be handled.
        if (!_paused)
        {
            _end.BeginWork();
        }

        _paused = _yielded = _waitsForReader = false;
        _turnBudget.BeginBurst(now);
        Output.BeginDeferral();
        Dispatcher.BeginBurst(_stamp, now);

        // After BeginBurst: a thread that sees this value sees the burst.
        Volatile.Write(ref _stampedBytes, bytes);
        try
        {
            ReceiveOutcome outcome = Decode(input, _stamp);
            _paused = outcome == ReceiveOutcome.Pause;

            // A burst that yields continues reading, so the peer's deadlines apply.
            bool held = _paused && !_yielded;
            _deadlines.AfterBurst(input, held, held && (_waitsForReader || Dispatcher.WaitsForPeer));
            return outcome;
        }
        finally
        {
            if (!_yielded)
            {
                _turnBudget.EndBurst(Dispatcher.LastReading);
            }

            Dispatcher.EndBurst();
            Requests.EndBurst();
            FrameOutput.EndDeferral();
            if (_rates is not null)
            {
                Charge(_rates, now, _messagesReceived - messages);
            }

            if (!_paused)
            {
                _end.EndWork();
            }
        }
    }

    public void OnInputEnded(bool truncated)
    {
        Debug.Assert(_connection.IsOnLoop);
        if (truncated)
        {
            _connection.Close(CloseReason.PeerTruncated);
        }
        else
        {
            _deadlines.InputEnded();

            // No credit and no item can follow.
            Dispatcher.EndStreams(ErrorCode.None);
            // Only a client reports the peer's error as its close reason: a server does not trust the text of a client.
            _end.Finish((_handshake is null ? Requests.PeerError : null) ?? CloseReason.PeerClosed);
        }
    }

    public void OnOutputDrained() => _connection.ResumeReading();

    public void OnWriteTimeout(CloseReason reason) => SayGoodbye(reason);

    public long OnTick(long nowMilliseconds)
    {
        Debug.Assert(_connection.IsOnLoop);
        _traffic.Report();
        long due = Requests.OnTick(nowMilliseconds);

        // A pending authenticator or authorizer pauses the session, and a paused session gets every tick.
        _handshake?.OnTick(nowMilliseconds);
        Dispatcher.OnTick(nowMilliseconds);
        bool leaving = _handshake is null && _end.IsAnnounced;
        switch (_deadlines.Check(nowMilliseconds, leaving, out CloseReason? reason, out long nextCheck))
        {
            case DeadlineAction.Close:
                // A Hello that is being checked is answered before the connection closes.
                if (reason!.Kind != CloseKind.HandshakeTimeout || !_handshake!.GiveUp())
                {
                    CloseWithGoodbye(reason);
                }

                break;
            case DeadlineAction.Expire:
                Stop(reason!, TimeSpan.Zero, _settings.Options.CloseTimeout);
                break;
            case DeadlineAction.Ping:
                Requests.SendHeartbeat();
                break;
        }

        long nextStep = _end.OnTick(nowMilliseconds, _paused);
        EndStreamsAfterGrace();
        return Math.Min(Math.Min(due, nextCheck), nextStep);
    }

    long ILoopWatch.Watch(long nowMilliseconds)
    {
        // Bytes without a burst have arrived. Resumed bursts need no check: they were paused.
        bool burstIsDue = Math.Max(Volatile.Read(ref _stampedBytes), 0) != _connection.BytesReceived;
        return Dispatcher.Watch(nowMilliseconds, burstIsDue);
    }

    public bool OnStopping(CloseReason reason)
    {
        Debug.Assert(_connection.IsOnLoop);
        // The server bounds the stop and aborts the connections that are left, so the timeout here is only nominal.
        StopHere(reason, _settings.ShutdownGrace, TimeSpan.FromDays(1));
        return true;
    }

    public void OnClosed(CloseReason reason)
    {
        Debug.Assert(_connection.IsOnLoop);
        _end.OnClosed();
        _traffic.Report(isLast: true);
        _rates?.Close();
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

    /// <summary>Whether the session does not read for now. On the loop.</summary>
    public bool IsPaused => _paused;

    /// <summary>Counts additional work of the current frame, in frames, against the turn. Loop only.</summary>
    public void SpendTurn(int frames) => _turnBudget.Spend(frames);

    /// <summary>
    /// Says Goodbye if the peer has said Hello, accepts requests for the grace period, answers those in flight and closes. Aborts the
    /// connection after the timeout. Any thread.
    /// </summary>
    public void Stop(CloseReason reason, TimeSpan grace, TimeSpan timeout)
    {
        // At once: this frees the routing id, and no unsolicited message follows the call. The rest runs on the loop.
        _end.Announce(reason);
        OnLoop(protocol => protocol.StopHere(reason, grace, timeout));
    }

    /// <summary>Sends no more requests, and closes when the requests in flight have their replies. Any thread.</summary>
    public void Leave(CloseReason reason)
    {
        _end.Announce(reason);
        OnLoop(protocol => protocol.LeaveHere(reason));
    }

    /// <summary>Says Goodbye if the peer may receive it, then closes without waiting for requests in flight. Any thread.</summary>
    public void CloseWithGoodbye(CloseReason reason)
    {
        _end.Announce(reason);
        OnLoop(protocol =>
        {
            protocol.SayGoodbye(reason);
            protocol._connection.Close(protocol._end.Reason!);
        });
    }

    /// <summary>
    /// Both sides have set the bits of these extensions, which apply from the next frame on, in both directions. On the loop, which has
    /// just sent or read the Welcome.
    /// </summary>
    /// <param name="extensions">Bits of <see cref="Extensions"/>; unknown ones are ignored.</param>
    public void Agree(uint extensions)
    {
        if ((extensions & Extensions.Trace) != 0)
        {
            Requests.Expect(FrameBlocks.Trace);
            Output.CarriesTraces = true;
        }

        if ((extensions & Extensions.Streams) != 0)
        {
            Requests.Expect(FrameBlocks.More);
            Output.CarriesStreams = true;
        }

        if ((extensions & Extensions.Calls) != 0)
        {
            Requests.Expect(FrameBlocks.Deadline);
            Output.CarriesCalls = true;
        }
    }

    /// <summary>Applies the peer's limit and heartbeat from its Welcome.</summary>
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

    // The peer's Hello was answered with Welcome. Unsolicited messages, the events included, follow the Welcome.
    private void Identified(Handshake handshake)
    {
        Agree(handshake.Agreed);
        Output.CanSendUnsolicited = true;
        Session.IsIdentified = true;
        if (handshake.IdentityEndsAt is { } time)
        {
            _deadlines.IdentityEndsAt(time);
        }

        _deadlines.Identified(_settings.Options.HeartbeatInterval);
        _settings.Host.OnIdentified(Session);
        handshake.EnterIdentity();
        if (_end.IsStopping)
        {
            // Stopped before the Hello: the Goodbye could not be written until now.
            SayGoodbye(_end.Reason!);
        }
    }

    bool IMemoryUser.IsPeerKnown => Session.IsPeerKnown;

    TimeSpan? IMemoryUser.UnfinishedFor => UnfinishedSince is >= 0 and var since
        ? TimeSpan.FromMilliseconds(_settings.Clock.PreciseMilliseconds - since)
        : null;

    void IMemoryUser.TellAndClose(CloseReason reason) => CloseWithGoodbye(reason);

    /// <summary>
    /// Runs an action on the loop, where Goodbyes are written: synchronously if this thread is the loop, otherwise posted.
    /// </summary>
    private void OnLoop(Action<FrameProtocol> action)
    {
        if (_connection.IsOnLoop)
        {
            action(this);
        }
        else
        {
            _connection.Post(static state =>
            {
                var (protocol, posted) = ((FrameProtocol, Action<FrameProtocol>))state!;
                posted(protocol);
            }, (this, action));
        }
    }

    private void StopHere(CloseReason reason, TimeSpan grace, TimeSpan timeout)
    {
        Release();
        bool isTold = SayGoodbye(reason);
        _end.Stop(grace, timeout, isTold);
        EndStreamsAfterGrace();
    }

    private void LeaveHere(CloseReason reason)
    {
        _end.Announce(reason);
        _end.Leave();
        SayGoodbye(new CloseReason(CloseKind.LocalClosed, "The client is leaving."));
        Requests.EndHeartbeat();
        Requests.FinishIfAllReplied();
    }

    // Says Goodbye if the peer may receive it; false if it may not.
    private bool SayGoodbye(CloseReason reason)
    {
        _end.Announce(reason);

        // A server sends nothing unsolicited before Hello; the connecting side has no such rule.
        if (!Output.CanSendUnsolicited)
        {
            return false;
        }

        Output.WriteGoodbye(new CodeBody(reason.GetErrorCode(), reason.Message));
        return true;
    }
}
