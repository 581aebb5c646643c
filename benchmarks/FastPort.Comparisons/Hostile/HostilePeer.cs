using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Comparisons.Hostile;

/// <summary>A frame as it was received.</summary>
internal sealed record HostileFrame(ushort Type, byte Flags, uint Correlation, byte[] Body)
{
    public bool IsReply => (Flags & HostileFrames.Reply) != 0;

    public bool IsError => (Flags & HostileFrames.Error) != 0;
}

/// <summary>A connection that keeps to no rules: it sends any bytes, and reads only where it is told to.</summary>
internal sealed class HostilePeer : IDisposable
{
    private const int LengthBytes = 4;
    private const int LargestFrame = 16 * 1024 * 1024;

    // A SYN that a full backlog drops is repeated for minutes.
    private static readonly TimeSpan ConnectLimit = TimeSpan.FromSeconds(5);

    private Stream _stream;

    private HostilePeer(Socket socket)
    {
        Socket = socket;
        _stream = new NetworkStream(socket, ownsSocket: true);
    }

    public Socket Socket { get; }

    /// <summary>Connects.</summary>
    /// <param name="server">The server.</param>
    /// <param name="source">The address to come from; null for the system's choice.</param>
    /// <param name="ending">Gives up.</param>
    /// <param name="receiveBuffer">Bytes of the socket's receive buffer; 0 for the system's choice.</param>
    public static async Task<HostilePeer> ConnectAsync(
        IPEndPoint server, IPAddress? source, CancellationToken ending, int receiveBuffer = 0)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            if (receiveBuffer > 0)
            {
                socket.ReceiveBufferSize = receiveBuffer;
            }

            if (source is not null)
            {
                socket.Bind(new IPEndPoint(source, 0));
            }

            using var limit = CancellationTokenSource.CreateLinkedTokenSource(ending);
            limit.CancelAfter(ConnectLimit);
            await socket.ConnectAsync(server, limit.Token);
            return new HostilePeer(socket);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Sends and reads through another stream from here on.</summary>
    /// <param name="above">Gives the stream above this connection's.</param>
    public void Wrap(Func<Stream, Stream> above) => _stream = above(_stream);

    /// <summary>Encrypts from here on.</summary>
    /// <param name="options">How; the stream is this connection's own.</param>
    /// <param name="ending">Gives up.</param>
    public async Task EncryptAsync(SslClientAuthenticationOptions options, CancellationToken ending)
    {
        var encrypted = new SslStream(_stream);
        _stream = encrypted;
        await encrypted.AuthenticateAsClientAsync(options, ending);
    }

    /// <summary>How good clients encrypt: they trust one authority only.</summary>
    public static SslClientAuthenticationOptions Trusting(string host, string authorityFile)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
        };
        policy.CustomTrustStore.ImportFromPemFile(authorityFile);
        return new SslClientAuthenticationOptions { TargetHost = host, CertificateChainPolicy = policy };
    }

    public ValueTask SendAsync(ReadOnlyMemory<byte> bytes, CancellationToken ending) => _stream.WriteAsync(bytes, ending);

    /// <summary>Says Hello and waits for Welcome.</summary>
    /// <exception cref="IOException">It was refused.</exception>
    public async Task HelloAsync(string routingId, string token, CancellationToken ending)
    {
        await SendAsync(HostileFrames.HelloFrame(routingId, token), ending);
        HostileFrame reply = await ReadFrameAsync(ending);
        if (reply.IsError)
        {
            throw new IOException("Hello was refused.");
        }
    }

    /// <exception cref="IOException">The server has ended the connection.</exception>
    public async Task<HostileFrame> ReadFrameAsync(CancellationToken ending)
    {
        byte[] header = new byte[HostileFrames.HeaderBytes];
        await _stream.ReadExactlyAsync(header, ending);
        int bodyBytes = BinaryPrimitives.ReadInt32LittleEndian(header) - (HostileFrames.HeaderBytes - LengthBytes);
        if (bodyBytes is < 0 or > LargestFrame)
        {
            throw new IOException("What came is no frame.");
        }

        byte[] body = new byte[bodyBytes];
        await _stream.ReadExactlyAsync(body, ending);
        return new HostileFrame(
            BinaryPrimitives.ReadUInt16LittleEndian(header.AsSpan(4)), header[6], BinaryPrimitives.ReadUInt32LittleEndian(header.AsSpan(8)),
            body);
    }

    /// <summary>Reads whatever comes, up to the end of the connection.</summary>
    public async Task DrainAsync(CancellationToken ending)
    {
        byte[] buffer = new byte[4096];
        while (await _stream.ReadAsync(buffer, ending) != 0)
        {
            // Whatever it says.
        }
    }

    /// <summary>Sends the same bytes again and again and reads whatever comes, until the server closes the connection.</summary>
    /// <param name="batch">The bytes.</param>
    /// <param name="pause">The time between two batches.</param>
    /// <param name="ending">Ends the attack.</param>
    /// <exception cref="IOException">The server has closed the connection.</exception>
    public async Task FloodAsync(byte[] batch, TimeSpan pause, CancellationToken ending)
    {
        using var both = CancellationTokenSource.CreateLinkedTokenSource(ending);
        Task first = await Task.WhenAny(DrainAsync(both.Token), SendAsync(batch, pause, both.Token));
        await both.CancelAsync();
        await first;
        throw new IOException("The server has closed it.");
    }

    private async Task SendAsync(byte[] batch, TimeSpan pause, CancellationToken ending)
    {
        using var timer = new PeriodicTimer(pause);
        while (await timer.WaitForNextTickAsync(ending))
        {
            await SendAsync(batch, ending);
        }
    }

    public ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken ending) => _stream.ReadAsync(buffer, ending);

    public ValueTask ReadExactlyAsync(Memory<byte> buffer, CancellationToken ending) => _stream.ReadExactlyAsync(buffer, ending);

    /// <summary>Says that no more will come.</summary>
    public void EndSending() => Socket.Shutdown(SocketShutdown.Send);

    /// <summary>Ends with a reset instead of an end of stream.</summary>
    public void Reset() => Socket.LingerState = new LingerOption(enable: true, seconds: 0);

    public void Dispose() => _stream.Dispose();
}
