using FastPort.Framing;
using FastPort.Protocol;

namespace FastPort.Client.Load;

/// <summary>
/// One connection of a sink load: sends one-way messages as fast as the connection takes them, then compares its count with the server's.
/// The sending task owns the counters; <see cref="_gate"/> guards the session and the task that waits for one.
/// </summary>
/// <param name="body">The body of every message.</param>
/// <param name="batchMessages">Messages per flush.</param>
/// <param name="errors">Records the errors.</param>
internal sealed class SinkLane(byte[] body, int batchMessages, LoadErrors errors)
{
    private readonly Lock _gate = new();
    private TaskCompletionSource _connected = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Session? _session;
    private Session? _countedOn;
    private long _sent;
    private long _reported;
    private long _verified;
    private long _total;

    /// <summary>Messages that the server has confirmed, over all sessions.</summary>
    public long Verified => Volatile.Read(ref _verified);

    /// <summary>Messages passed to the connection, over all sessions.</summary>
    public long Sent => Volatile.Read(ref _total);

    public void OnConnected(Session session)
    {
        lock (_gate)
        {
            _session = session;
            _connected.TrySetResult();
        }
    }

    /// <summary>Sends until the token is canceled.</summary>
    public async Task SendAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            if (await SessionAsync(stop).ConfigureAwait(false) is not { } session)
            {
                return;
            }

            // Wait for room first: while another thread sends, a batch is accepted however many bytes wait.
            // A run that stops does not wait: a peer that no longer reads leaves no room for a long time.
            await session.WhenWritableAsync(stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (stop.IsCancellationRequested)
            {
                return;
            }

            switch (SendSome(session))
            {
                case SendStatus.Queued:
                    // Other connections share the pool's threads.
                    await Task.Yield();
                    break;
                case SendStatus.Full:
                    break;
                case SendStatus.TooLarge:
                    // The size was checked before the run: only a replaced server can have a smaller limit.
                    errors.Add(
                        LoadErrorKind.ErrorReply,
                        $"The server's frame limit allows bodies of {session.MaxBodyBytes} bytes, not {body.Length}; nothing more is "
                        + "sent.");
                    return;
                default:
                    Lose(session);
                    break;
            }
        }
    }

    /// <summary>Requests the server's count after all messages sent before, and compares it.</summary>
    /// <param name="timeout">The longest wait for room for the request, and for the reply.</param>
    public async Task VerifyAsync(TimeSpan timeout)
    {
        if (_countedOn is not { } session)
        {
            return;
        }

        (SinkReport? report, LoadErrorKind kind, string? problem) = await ReportAsync(session, timeout).ConfigureAwait(false);
        if (report is null)
        {
            errors.Add(kind, $"{_sent - _reported} messages of a connection could not be verified. {problem}");
            Forget(session);
        }
        else if (report.Messages != (ulong)_sent || report.Bytes != (ulong)_sent * (ulong)body.Length)
        {
            errors.Add(
                LoadErrorKind.Wrong,
                $"{_sent} messages of {body.Length} bytes were sent on a connection; the server counted {report.Messages} messages and "
                + $"{report.Bytes} bytes.");
            Forget(session);
        }
        else
        {
            Volatile.Write(ref _verified, _verified + _sent - _reported);
            _reported = _sent;
        }
    }

    private static async Task<(SinkReport? Report, LoadErrorKind Kind, string? Problem)> ReportAsync(Session session, TimeSpan timeout)
    {
        var pending = new SinkReportReply();
        using var patience = new CancellationTokenSource(timeout);
        SendStatus status;
        while ((status = session.TryRequest(
            DiagnosticType.SinkReport, default(EmptyBody), pending, timing: false, timeout, out _)) == SendStatus.Full
            && !patience.IsCancellationRequested)
        {
            await session.WhenWritableAsync(patience.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        return status switch
        {
            SendStatus.Queued => await pending.Task.ConfigureAwait(false),
            SendStatus.Full => (null, LoadErrorKind.Lost, "The send queue stayed full."),
            _ => (null, LoadErrorKind.Lost, "The connection was lost."),
        };
    }

    private SendStatus SendSome(Session session)
    {
        SendStatus status = SendStatus.Queued;
        int sent = 0;
        using (SendBatch batch = session.BeginBatch())
        {
            while (sent < batchMessages && (status = batch.TrySend(DiagnosticType.Sink, body)) == SendStatus.Queued)
            {
                sent++;
            }
        }

        _sent += sent;
        Volatile.Write(ref _total, _total + sent);
        return status;
    }

    // Null if the run stops before there is a session.
    private async ValueTask<Session?> SessionAsync(CancellationToken stop)
    {
        while (true)
        {
            Task connected;
            lock (_gate)
            {
                if (_session is { } session)
                {
                    Count(session);
                    return session;
                }

                connected = _connected.Task;
            }

            await connected.WaitAsync(stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (stop.IsCancellationRequested)
            {
                return null;
            }
        }
    }

    private void Count(Session session)
    {
        if (!ReferenceEquals(_countedOn, session))
        {
            // The previous session may have ended between two batches, and its client has reconnected.
            AddLost();
            _countedOn = session;
            _sent = 0;
            _reported = 0;
        }
    }

    private void Lose(Session session)
    {
        AddLost();
        Forget(session);
    }

    private void AddLost()
    {
        if (_countedOn is not null && _sent != _reported)
        {
            errors.Add(LoadErrorKind.Lost, $"The connection ended; {_sent - _reported} messages on it could not be verified.");
        }
    }

    // A live session whose report is late or wrong is ended: the client then opens the next one.
    private void Forget(Session session)
    {
        session.Abort();
        _countedOn = null;
        lock (_gate)
        {
            if (ReferenceEquals(_session, session))
            {
                _session = null;
                _connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
        }
    }
}
