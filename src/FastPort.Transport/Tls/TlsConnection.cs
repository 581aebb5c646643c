using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using FastPort.Connections;
using FastPort.Transports.Layers;

namespace FastPort.Tls;

/// <summary>
/// Encrypts a connection. The handshake runs before the connection is started (<see cref="AuthenticateAsync"/>). From then on the loop
/// alone reads from the <see cref="SslStream"/>, and <see cref="TlsOutput"/> has one thread at a time write to it.
/// </summary>
internal sealed partial class TlsConnection : LayeredConnection
{
    private readonly RecordStream _records;
    private readonly SslStream _stream;
    private readonly TlsOutput _output;
    private TlsInfo? _info;

    /// <param name="below">See <see cref="LayeredConnection"/>.</param>
    /// <param name="settings">Settings of the encrypted connection.</param>
    /// <param name="workers">Where the steps of the handshake run.</param>
    public TlsConnection(Connection below, ConnectionSettings settings, HandshakeWorkers workers)
        : base(below, settings)
    {
        _records = new RecordStream(below, workers);
        _stream = new SslStream(_records, leaveInnerStreamOpen: true);
        _output = new TlsOutput(this, below, _stream, _records, settings);
        _onReadable = Readable;
    }

    public override TlsInfo? Tls => _info;

    /// <summary>Whether the peer has left before it has sent a byte of the handshake.</summary>
    public bool HasPeerLeft => !_records.HasReceived && PeerLeftException.IsReason(Below.ClosingReason);

    protected override LayerOutput Layer => _output;

    /// <summary>
    /// Starts the connection below and performs the handshake. If it fails, the caller closes the connection below. The task completes on
    /// the worker that makes the last step.
    /// </summary>
    /// <param name="authenticate">Begins the handshake.</param>
    /// <param name="serverName">The name that the client requested, known when the handshake has ended.</param>
    /// <exception cref="AuthenticationException">The peers did not agree.</exception>
    /// <exception cref="IOException">The connection ended, or the peer does not speak TLS.</exception>
    public async Task AuthenticateAsync(Func<SslStream, Task> authenticate, Func<string> serverName)
    {
        Below.Start(this);
        if (Below.IsClosing)
        {
            // It was aborted before the start, so nothing is called any more.
            _records.Fail("The connection was closed before the TLS handshake.");
        }

        await authenticate(_stream).ConfigureAwait(false);
        TlsCipherSuite suite = _stream.NegotiatedCipherSuite;
        if (!TlsProtocols.IsAllowed(suite))
        {
            throw new AuthenticationException($"The cipher suite {suite} is not allowed; offer one with AES-GCM or ChaCha20.");
        }

        _info = new TlsInfo(
            _stream.SslProtocol,
            suite,
            _stream.RemoteCertificate as X509Certificate2,
            serverName(),
            _stream.NegotiatedApplicationProtocol.ToString());
        _records.BeginData(TlsProtocols.Overhead(_info.Protocol, suite));
    }

    // At once: no call of the stream below waits. The runtime's stream does not guard its end against a read at the same time.
    protected override void WriteEnd()
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

    protected override void BelowEnded(CloseReason reason) => _records.Fail(reason.Message);

    protected override void ReleaseInput()
    {
        _records.Fail("The connection has ended.");
        _stream.Dispose();
    }
}
