using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>Protocols that pause at bytes which came with the end of the handshake, and turns of records.</summary>
public sealed class TlsPauseTests
{
    [Theory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task What_a_peer_sends_while_its_hello_is_decided_waits_and_is_answered_in_order(TransportKind transport)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        var decision = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int asked = 0;
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(
            options =>
            {
                options.Transport = transport;
                options.Loops = 1;
                options.Endpoints.Add("tcp://127.0.0.1:0");
            },
            components => components.Authenticator = async (hello, _) =>
            {
                if (hello.ClientName == "other")
                {
                    return AuthenticationResult.Accept();
                }

                Interlocked.Increment(ref asked);
                await decision.Task;
                return AuthenticationResult.Accept();
            });
        using RawPeer peer = await both.Server.ConnectAsync();
        await using SslStream stream = peer.OverTls();
        await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);
        await stream.WriteAsync(Wire.HelloRequest(1), Patience.Token);
        await Patience.UntilAsync(() => Volatile.Read(ref asked) == 1, "the authenticator was asked");

        for (uint i = 2; i < 10; i++)
        {
            await stream.WriteAsync(Wire.Request(TestServer.Echo, i, [(byte)i]), Patience.Token);
        }

        // One loop has both: when it answers the other peer, it has seen the bytes above.
        using RawPeer other = await RawPeer.ConnectAsync(both.Server.Server.Endpoints[1]);
        await other.SendAsync(Wire.HelloRequest(1, name: "other"));
        Assert.Equal(1u, (await other.ReadFrameAsync()).Correlation);
        decision.SetResult();

        for (uint i = 1; i < 10; i++)
        {
            Assert.Equal(i, await ReadCorrelationAsync(stream));
        }

        Assert.Equal(1, asked);
    }

    [Theory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_protocol_that_has_paused_is_offered_nothing_before_it_resumes(TransportKind transport)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        var options = new ConnectionServerOptions { Endpoints = { "tls://127.0.0.1:0" }, Transport = transport, Loops = 1 };
        options.Tls.CertificateFile = TlsFiles.Server.CertificateFile;
        var paused = new PausingProtocol();
        await using var server = new ConnectionServer(options, _ => paused);
        await server.StartAsync(Patience.Token);
        using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoints[0]);
        await using SslStream stream = peer.OverTls();
        await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);
        await stream.WriteAsync(new byte[] { 1 }, Patience.Token);
        await Patience.UntilAsync(() => paused.Calls == 1, "the first byte was offered");

        for (byte i = 2; i < 10; i++)
        {
            await stream.WriteAsync(new[] { i }, Patience.Token);

            // Round trips of the loop: it has seen the byte when it has run these.
            var seen = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Assert.True(paused.Connection!.Post(static state => ((TaskCompletionSource)state!).SetResult(), seen));
            await seen.Task.InTimeAsync();
        }

        Assert.Equal(1, paused.Calls);
        paused.Resume();
        await Patience.UntilAsync(() => paused.Received == 9, "all bytes were offered");
    }

    [Theory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task Records_of_one_byte_are_decrypted_in_turns_and_all_arrive(TransportKind transport)
    {
        const int Records = 2000;
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        var options = new ConnectionServerOptions
        {
            Endpoints = { "tls://127.0.0.1:0", "tcp://127.0.0.1:0" },
            Transport = transport,
            Loops = 1,
        };
        options.Tls.CertificateFile = TlsFiles.Server.CertificateFile;
        var beside = new VisitedProtocol();
        var counting = new CountingProtocol(beside);
        await using var server = new ConnectionServer(options, connection => connection.Tls is null ? beside : counting);
        await server.StartAsync(Patience.Token);
        using RawPeer other = await RawPeer.ConnectAsync(server.Endpoints[1]);
        await beside.Visited.Task.InTimeAsync();
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, server.Endpoints[0].Port, Patience.Token);
        await using var stream = new SslStream(
            new CollectingStream(new NetworkStream(socket)), leaveInnerStreamOpen: false, static (_, shown, _, _) => shown is not null);
        await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);

        for (int i = 0; i < Records; i++)
        {
            await stream.WriteAsync(new byte[1], Patience.Token);
        }

        await stream.ShutdownAsync();
        await stream.FlushAsync(Patience.Token);
        socket.Shutdown(SocketShutdown.Send);

        Assert.False(await counting.Ended.Task.InTimeAsync());
        Assert.Equal(Records, counting.Received);
        if (transport == TransportKind.Epoll)
        {
            // A turn may end between two visits, and the next one begin. All records came in one receive, or in two.
            Assert.InRange(counting.MostInAVisit, 1, 3 * RecordStream.RecordsPerTurn);
        }
    }

    private static async Task<uint> ReadCorrelationAsync(SslStream stream)
    {
        byte[] length = new byte[4];
        await stream.ReadExactlyAsync(length, Patience.Token);
        byte[] frame = new byte[BinaryPrimitives.ReadInt32LittleEndian(length)];
        await stream.ReadExactlyAsync(frame, Patience.Token);
        return BinaryPrimitives.ReadUInt32LittleEndian(frame.AsSpan(4));
    }

    /// <summary>Pauses at the first bytes until it is told to go on.</summary>
    private sealed class PausingProtocol : IConnectionProtocol
    {
        private int _calls;
        private volatile bool _resumed;

        public Connection? Connection { get; private set; }

        public int Calls => Volatile.Read(ref _calls);

        public int Received { get; private set; }

        public void Resume()
        {
            _resumed = true;
            Connection!.ResumeReading();
        }

        public void OnOpened(Connection connection) => Connection = connection;

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            Interlocked.Increment(ref _calls);
            if (!_resumed)
            {
                return ReceiveOutcome.Pause;
            }

            Received += input.Length;
            input.Consume(input.Length);
            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => Connection!.Close(CloseReason.PeerClosed);

        public void OnClosed(CloseReason reason)
        {
        }
    }

    /// <summary>Has its loop visit it in each round.</summary>
    private sealed class VisitedProtocol : IConnectionProtocol
    {
        private Connection? _connection;

        public TaskCompletionSource Visited { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public int Visits { get; private set; }

        public void OnOpened(Connection connection)
        {
            _connection = connection;
            Visit();
        }

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input) => ReceiveOutcome.Continue;

        public void OnInputEnded(bool truncated) => _connection!.Close(CloseReason.PeerClosed);

        public void OnClosed(CloseReason reason)
        {
        }

        private void Visit()
        {
            Visits++;
            _connection!.Post(static state => ((VisitedProtocol)state!).Visit(), this);
            Visited.TrySetResult();
        }
    }

    /// <summary>Counts what it is offered between two visits of another connection of its loop.</summary>
    private sealed class CountingProtocol(VisitedProtocol beside) : IConnectionProtocol
    {
        private Connection? _connection;
        private int _visit;
        private int _inVisit;

        public TaskCompletionSource<bool> Ended { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public int Received { get; private set; }

        public int MostInAVisit { get; private set; }

        public void OnOpened(Connection connection) => _connection = connection;

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            _inVisit = (beside.Visits == _visit ? _inVisit : 0) + input.Length;
            _visit = beside.Visits;
            MostInAVisit = Math.Max(MostInAVisit, _inVisit);
            Received += input.Length;
            input.Consume(input.Length);
            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated)
        {
            Ended.TrySetResult(truncated);
            _connection!.Close(CloseReason.PeerClosed);
        }

        public void OnClosed(CloseReason reason) => Ended.TrySetException(new IOException(reason.Message));
    }

    /// <summary>Keeps what is written until it is flushed.</summary>
    private sealed class CollectingStream(Stream inner) : Stream
    {
        private readonly MemoryStream _written = new();

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            inner.ReadAsync(buffer, cancellationToken);

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            _written.Write(buffer.Span);
            return ValueTask.CompletedTask;
        }

        public override async Task FlushAsync(CancellationToken cancellationToken)
        {
            byte[] bytes = _written.ToArray();
            _written.SetLength(0);
            await inner.WriteAsync(bytes, cancellationToken);
        }

        public override void Flush() => throw new NotSupportedException();

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
