using System.Buffers.Binary;
using System.Net.Security;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Hosting;
using FastPort.Sessions;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>Protocols that pause at bytes which came with the end of the handshake.</summary>
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

        public void OnOutputDrained()
        {
        }

        public long OnTick(long nowMilliseconds) => ConnectionClock.Never;

        public void OnClosed(CloseReason reason)
        {
        }
    }
}
