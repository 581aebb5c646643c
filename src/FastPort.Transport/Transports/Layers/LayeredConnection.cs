using System.Net;
using FastPort.Connections;

namespace FastPort.Transports.Layers;

/// <summary>
/// A connection that runs above another one, such as an encrypted one: the protocol of the connection below, and a connection for the
/// protocol above. Its loop is that of the connection below, which also has the deadline of a close; the other deadlines are its own, since
/// only it knows the protocol's bytes. One thread at a time writes, the flusher of <see cref="Layer"/>.
/// </summary>
internal abstract partial class LayeredConnection : TransportConnection, IConnectionProtocol
{
    // From this many waiting bytes on a flush in a burst sends at once: they fill a piece.
    private const int FlushAtOnceBytes = 16 * 1024;

    [ThreadStatic]
    private static LayeredConnection? _ending;

    private readonly Connection _below;
    private int _resumes;

    /// <param name="below">
    /// The connection below, not started, or with a preamble that has ended. Its settings are those of
    /// <see cref="LayerOutput.SettingsBelow"/>.
    /// </param>
    /// <param name="settings">Settings of this connection.</param>
    protected LayeredConnection(Connection below, ConnectionSettings settings)
        : base(settings, below.RemoteEndPoint, below.UnixPeer)
    {
        _below = below;
        _data = new ReceiveBuffer(settings.MaxReceiveBytes, ReceivePool);
    }

    public override TlsInfo? Tls => _below.Tls;

    public sealed override EndPoint? LocalEndPoint => _below.LocalEndPoint;

    public sealed override long PendingBytes => Is(LifeFlags.Ended) ? 0 : Layer.PendingBytes;

    public sealed override bool IsSendBlocked => _below.IsSendBlocked;

    public sealed override bool IsOnLoop => _below.IsOnLoop || ReferenceEquals(_ending, this);

    internal sealed override bool HasUnreadInput => _below.HasUnreadInput;

    internal sealed override long ReceiveMemory => base.ReceiveMemory + _below.ReceiveMemory;

    internal sealed override long SendMemory => base.SendMemory + _below.SendMemory;

    protected Connection Below => _below;

    protected sealed override SendQueue Output => Layer;

    /// <summary>The send side.</summary>
    protected abstract LayerOutput Layer { get; }

    public sealed override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        Output.TryAppendBatch(IsOnLoop, ref batch);

    public sealed override void Flush()
    {
        RequestTick();

        // In a burst small messages wait for its end: one piece for all of them.
        if (!IsOnLoop || !_inBurst || Layer.NotWrapped >= FlushAtOnceBytes)
        {
            Layer.Flush();
        }
    }

    public sealed override void FlushNow()
    {
        RequestTick();
        Layer.Flush();
        _below.FlushNow();
    }

    // Not only below: the protocol may have paused at bytes that the connection below has handed over already.
    public sealed override void ResumeReading()
    {
        // One pending call on the loop is enough, however often it is requested.
        if (Interlocked.Exchange(ref _resumes, 1) == 0)
        {
            _below.Post(
                static state =>
                {
                    var connection = (LayeredConnection)state!;
                    Interlocked.Exchange(ref connection._resumes, 0);
                    connection.Resume();
                },
                this);
        }
    }

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
    /// The last byte was wrapped: notifies the peer, and closes the connection _below. Called under the output's gate. It happens on the
    /// loop, between two bursts.
    /// </summary>
    internal sealed override void ShutDownOutput() => _below.Post(
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
            _data.Ring.Dispose();
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

    /// <summary>Releases what the receive side holds besides its ring. Once, at the end.</summary>
    protected virtual void ReleaseInput()
    {
    }

    protected sealed override void BeginLoop() => _below.Post(static state => ((LayeredConnection)state!).Begin(), this);

    protected sealed override void WakeLoop() => _below.Post(static state => ((LayeredConnection)state!).RunWork(), this);

    protected sealed override void OnClosing()
    {
        Layer.ShutDown();

        // The loop drops the peer's bytes from now on.
        _below.ResumeReading();
    }

    protected sealed override void OnAborted() => _below.Abort(ClosingReason ?? CloseReason.LocalClosed);

    protected sealed override void End()
    {
        if (!TryBeginEnd())
        {
            return;
        }

        // A connection that was never started is ended by the code that closes it.
        _below.Close(ClosingReason ?? CloseReason.LocalClosed);
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
