using System.Net;
using System.Net.Security;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Tls;

/// <summary>
/// Encrypts a connection: the protocol of the connection below, and a connection for the protocol above. Its loop is that of the connection
/// below, which also has the deadline of a close; the other deadlines are its own, since only it knows the protocol's bytes.
/// <para>
/// The handshake runs before the connection is started (<see cref="AuthenticateAsync"/>). From then on the loop alone reads from the
/// <see cref="SslStream"/>, and <see cref="TlsOutput"/> has one thread at a time write to it.
/// </para>
/// </summary>
internal sealed partial class TlsConnection : TransportConnection, IConnectionProtocol
{
    // From this many waiting bytes on a flush in a burst sends at once: they fill a record.
    private const int FlushAtOnceBytes = 16 * 1024;

    [ThreadStatic]
    private static TlsConnection? _ending;

    private readonly Connection _below;
    private readonly RecordStream _records;
    private readonly SslStream _stream;
    private readonly TlsOutput _output;
    private TlsInfo? _info;
    private int _resumes;

    /// <param name="below">The connection below, not started. Its settings are those of <see cref="TlsOutput.SettingsBelow"/>.</param>
    /// <param name="settings">Settings of the encrypted connection.</param>
    /// <param name="workers">Where the steps of the handshake run.</param>
    public TlsConnection(Connection below, ConnectionSettings settings, HandshakeWorkers workers)
        : base(settings, below.RemoteEndPoint, below.UnixPeer)
    {
        _below = below;
        _data = new ReceiveBuffer(settings.MaxReceiveBytes, ReceivePool);
        _records = new RecordStream(below, workers);
        _stream = new SslStream(_records, leaveInnerStreamOpen: true);
        _output = new TlsOutput(this, below, _stream, _records, settings);
        _onReadable = Readable;
    }

    public override TlsInfo? Tls => _info;

    public override EndPoint? LocalEndPoint => _below.LocalEndPoint;

    public override long PendingBytes => Is(LifeFlags.Ended) ? 0 : _output.PendingBytes;

    public override bool IsSendBlocked => _below.IsSendBlocked;

    public override bool IsOnLoop => _below.IsOnLoop || ReferenceEquals(_ending, this);

    internal override bool HasUnreadInput => _below.HasUnreadInput;

    internal override long ReceiveMemory => base.ReceiveMemory + _below.ReceiveMemory;

    internal override long SendMemory => base.SendMemory + _below.SendMemory;

    protected override SendQueue Output => _output;

    public override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        _output.TryAppendBatch(IsOnLoop, ref batch);

    public override void Flush()
    {
        RequestTick();

        // In a burst small messages wait for its end: one record for all of them.
        if (!IsOnLoop || !_inBurst || _output.NotEncrypted >= FlushAtOnceBytes)
        {
            _output.Flush();
        }
    }

    public override void FlushNow()
    {
        RequestTick();
        _output.Flush();
        _below.FlushNow();
    }

    // Not only below: the protocol may have paused at bytes that the connection below has handed over already.
    public override void ResumeReading()
    {
        // One pending call on the loop is enough, however often it is requested.
        if (Interlocked.Exchange(ref _resumes, 1) == 0)
        {
            _below.Post(
                static state =>
                {
                    var connection = (TlsConnection)state!;
                    Interlocked.Exchange(ref connection._resumes, 0);
                    connection.Resume();
                },
                this);
        }
    }

    public void OnOutputDrained()
    {
        _output.Drained();
        SentSome();
        _output.AwaitSending();
    }

    public void OnClosed(CloseReason reason)
    {
        bool wasStarted = !TrySet(LifeFlags.Claimed);
        Lose(reason);
        _records.Fail(reason.Message);
        if (wasStarted && Protocol is not null && !Has(ReadFlags.Open) && !Is(LifeFlags.Ended))
        {
            // The loop's first action has not run: the protocol is opened before it is notified of the end.
            Open();
        }

        End();
    }

    internal override void RoomAwaited() => _output.AwaitSending();

    /// <summary>
    /// The last byte was encrypted: notifies the peer, and closes the connection below. Called under the output's gate. It happens on the
    /// loop, between two bursts.
    /// </summary>
    internal override void ShutDownOutput() => _below.Post(
        static state =>
        {
            var connection = (TlsConnection)state!;
            connection.WriteEnd();
            connection._below.Close(connection.ClosingReason ?? CloseReason.LocalClosed);
        },
        this);

    internal override void Finish()
    {
        LeaveClock();
        TlsConnection? outer = _ending;
        _ending = this;
        try
        {
            _data.Ring.Dispose();
            _records.Fail("The connection has ended.");
            _stream.Dispose();
            CompleteEnd();
        }
        finally
        {
            _ending = outer;
        }
    }

    // At once: no call of the stream below waits. The runtime's stream does not guard its end against a read at the same time.
    private void WriteEnd()
    {
        try
        {
            _ = _stream.ShutdownAsync();
        }
        catch (Exception)
        {
            // The session is broken, and the runtime then throws its own exception types; the connection closes anyway.
        }
    }

    protected override void BeginLoop() => _below.Post(static state => ((TlsConnection)state!).Begin(), this);

    protected override void WakeLoop() => _below.Post(static state => ((TlsConnection)state!).RunWork(), this);

    protected override void OnClosing()
    {
        _output.ShutDown();

        // The loop drops the peer's bytes from now on.
        _below.ResumeReading();
    }

    protected override void OnAborted() => _below.Abort(ClosingReason ?? CloseReason.LocalClosed);

    protected override void End()
    {
        if (!TryBeginEnd())
        {
            return;
        }

        // A connection that was never started is ended by the code that closes it.
        _below.Close(ClosingReason ?? CloseReason.LocalClosed);
        _output.ReleaseWhenIdle();
        _ = _output.TryEnd();
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
