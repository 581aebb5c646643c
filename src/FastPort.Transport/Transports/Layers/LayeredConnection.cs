using System.Net;
using FastPort.Connections;

namespace FastPort.Transports.Layers;

/// <summary>
/// A connection that runs above another one, such as an encrypted one: the protocol of the connection below, and a connection for the
/// protocol above. Its loop is that of the connection below, which also has the deadline of a close; the other deadlines are its own, since
/// only it knows the protocol's bytes. One thread at a time writes, the flusher of <see cref="Layer"/>.
/// </summary>
/// <param name="below">
/// The connection below, not started, or with a preamble that has ended. Its settings are those of <see cref="LayerOutput.SettingsBelow"/>.
/// </param>
/// <param name="settings">Settings of this connection.</param>
internal abstract class LayeredConnection(Connection below, ConnectionSettings settings)
    : TransportConnection(settings, below.RemoteEndPoint, below.UnixPeer), IConnectionProtocol
{
    // From this many waiting bytes on a flush in a burst sends at once: they fill a piece.
    private const int FlushAtOnceBytes = 16 * 1024;

    [ThreadStatic]
    private static LayeredConnection? _ending;

    private int _resumes;

    public override TlsInfo? Tls => below.Tls;

    public sealed override EndPoint? LocalEndPoint => below.LocalEndPoint;

    public sealed override long PendingBytes => Is(LifeFlags.Ended) ? 0 : Layer.PendingBytes;

    public sealed override bool IsSendBlocked => below.IsSendBlocked;

    public sealed override bool IsOnLoop => below.IsOnLoop || ReferenceEquals(_ending, this);

    internal sealed override bool HasUnreadInput => below.HasUnreadInput;

    internal sealed override long ReceiveMemory => base.ReceiveMemory + below.ReceiveMemory;

    internal sealed override long SendMemory => base.SendMemory + below.SendMemory;

    protected Connection Below => below;

    protected sealed override SendQueue Output => Layer;

    /// <summary>The send side.</summary>
    protected abstract LayerOutput Layer { get; }

    /// <summary>Whether the loop is within a burst, at whose end everything is flushed. Loop only.</summary>
    protected bool InBurst { get; set; }

    public sealed override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        Output.TryAppendBatch(IsOnLoop, ref batch);

    public sealed override void Flush()
    {
        RequestTick();

        // In a burst small messages wait for its end: one piece for all of them.
        if (!IsOnLoop || !InBurst || Layer.NotWrapped >= FlushAtOnceBytes)
        {
            Layer.Flush();
        }
    }

    public sealed override void FlushNow()
    {
        RequestTick();
        Layer.Flush();
        below.FlushNow();
    }

    // Not only below: the protocol may have paused at bytes that the connection below has handed over already.
    public sealed override void ResumeReading()
    {
        // One pending call on the loop is enough, however often it is requested.
        if (Interlocked.Exchange(ref _resumes, 1) == 0)
        {
            below.Post(
                static state =>
                {
                    var connection = (LayeredConnection)state!;
                    Interlocked.Exchange(ref connection._resumes, 0);
                    connection.Resume();
                },
                this);
        }
    }

    public abstract ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input);

    public abstract void OnInputEnded(bool truncated);

    public void OnOutputDrained()
    {
        Layer.Drained();
        SentSome();
        Layer.AwaitSending();
    }

    public void OnClosed(CloseReason reason)
    {
        bool wasStarted = !TrySet(LifeFlags.Claimed);
        Lose(reason);
        BelowEnded(reason);
        if (wasStarted && Protocol is not null && !Has(ReadFlags.Open) && !Is(LifeFlags.Ended))
        {
            // The loop's first action has not run: the protocol is opened before it is notified of the end.
            Open();
        }

        End();
    }

    internal sealed override void RoomAwaited() => Layer.AwaitSending();

    /// <summary>
    /// The last byte was wrapped: notifies the peer, and closes the connection below. Called under the output's gate. It happens on the
    /// loop, between two bursts.
    /// </summary>
    internal sealed override void ShutDownOutput() => below.Post(
        static state =>
        {
            var connection = (LayeredConnection)state!;
            connection.WriteEnd();
            connection.Below.Close(connection.ClosingReason ?? CloseReason.LocalClosed);
        },
        this);

    internal sealed override void Finish()
    {
        LeaveClock();
        LayeredConnection? outer = _ending;
        _ending = this;
        try
        {
            ReleaseInput();
            CompleteEnd();
        }
        finally
        {
            _ending = outer;
        }
    }

    /// <summary>Writes what tells the peer that no more bytes of the protocol come. On the loop.</summary>
    protected abstract void WriteEnd();

    /// <summary>The connection below has ended: a handshake in progress fails.</summary>
    protected virtual void BelowEnded(CloseReason reason)
    {
    }

    /// <summary>Releases what the receive side holds. Once, at the end.</summary>
    protected abstract void ReleaseInput();

    /// <summary>Continues reading, after a pause or at the start. On the loop.</summary>
    protected abstract void Resume();

    protected sealed override void BeginLoop() => below.Post(static state => ((LayeredConnection)state!).Begin(), this);

    protected sealed override void WakeLoop() => below.Post(static state => ((LayeredConnection)state!).RunWork(), this);

    protected sealed override void OnClosing()
    {
        Layer.ShutDown();

        // The loop drops the peer's bytes from now on.
        below.ResumeReading();
    }

    protected sealed override void OnAborted() => below.Abort(ClosingReason ?? CloseReason.LocalClosed);

    protected sealed override void End()
    {
        if (!TryBeginEnd())
        {
            return;
        }

        // A connection that was never started is ended by the code that closes it.
        below.Close(ClosingReason ?? CloseReason.LocalClosed);
        Layer.ReleaseWhenIdle();
        _ = Layer.TryEnd();
    }

    // The loop's first action, after the handshake.
    private void Begin()
    {
        if (Is(LifeFlags.Ended))
        {
            return;
        }

        Open();
        RunWork();
        Resume();
    }
}
