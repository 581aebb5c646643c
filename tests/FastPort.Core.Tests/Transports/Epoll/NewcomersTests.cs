using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>Connections whose peers are not known yet have a loop of their own, and leave it in order and without loss.</summary>
public sealed class NewcomersTests
{
    private const ushort Where = 0x1001;
    private const ushort Push = 0x1002;

    [LinuxTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task No_handler_runs_among_the_newcomers(bool requiresHello)
    {
        var threads = new ConcurrentQueue<string?>();
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(Where, (ref InlineRequest request) =>
            {
                threads.Enqueue(Thread.CurrentThread.Name);
                request.Reply(default(EmptyBody));
            }),
            static options => (options.Transport, options.Loops) = (TransportKind.Epoll, 1),
            components => components.Authenticator = requiresHello
                ? static (_, _) => ValueTask.FromResult(AuthenticationResult.Accept())
                : null);

        for (int i = 0; i < 20; i++)
        {
            using RawPeer peer = await server.ConnectAsync();
            byte[] first = Wire.Request(Where, 2);
            await peer.SendAsync(requiresHello || i % 2 == 0 ? [.. Wire.HelloRequest(1), .. first] : first);
            WireFrame reply;
            do
            {
                reply = await peer.ReadFrameAsync();
            }
            while (reply.Correlation != 2);
        }

        Assert.Equal(20, threads.Count);
        Assert.All(threads, static name => Assert.Equal("FastPort loop 0", name));
    }

    [Fact]
    public async Task An_authenticator_that_blocks_holds_up_no_session()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Event loops are Linux's.");
        using var release = new ManualResetEventSlim();
        await using TestServer server = await TestServer.StartAsync(
            options: static options => (options.Transport, options.Loops) = (TransportKind.Epoll, 1),
            components: components => components.Authenticator = (hello, _) =>
            {
                if (hello.Token == "slow")
                {
                    release.Wait(Patience.Limit);
                }

                return ValueTask.FromResult(AuthenticationResult.Accept());
            });
        using RawPeer known = await server.ConnectKnownAsync();
        using RawPeer slow = await server.ConnectAsync();
        await slow.SendAsync(Wire.HelloRequest(1, token: "slow"));

        for (uint i = 10; i < 20; i++)
        {
            Assert.Equal([1, 2], (await known.CallAsync(Wire.Request(TestServer.Echo, i, [1, 2]))).Body);
        }

        release.Set();
        Assert.Equal(1u, (await slow.ReadFrameAsync()).Correlation);
    }

    [Theory]
    [InlineData("tcp", TransportKind.Epoll)]
    [InlineData("unix", TransportKind.Epoll)]
    [InlineData("tls", TransportKind.Epoll)]
    [InlineData("tcp", TransportKind.Sockets)]
    [InlineData("tls", TransportKind.Sockets)]
    public async Task Nothing_is_lost_and_all_is_in_order_while_a_connection_moves(string scheme, TransportKind transport)
    {
        const int Peers = 20;
        const uint Messages = 300;
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        using var directory = new TemporaryDirectory();
        string endpoint = scheme == "unix" ? $"unix://{directory["socket"]}" : $"{scheme}://127.0.0.1:0";
        await using TestServer server = await TestServer.StartAsync(options: options =>
        {
            options.Transport = transport;
            options.Loops = 2;
            options.Endpoints[0] = endpoint;
            options.Tls.CertificateFile = scheme == "tls" ? TlsFiles.Server.CertificateFile : string.Empty;
        });

        // Another thread sends while the connection moves.
        server.Server.SessionIdentified += static session => _ = Task.Run(async () =>
        {
            for (uint i = 0; i < Messages; i++)
            {
                await session.SendAsync(Push, BitConverter.GetBytes(i).AsMemory());
            }
        });

        await Task.WhenAll(Enumerable.Range(0, Peers).Select(TalkAsync));

        async Task TalkAsync(int number)
        {
            using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoint with { Scheme = scheme == "unix" ? "unix" : "tcp" });
            if (scheme == "tls")
            {
                await peer.EncryptAsync();
            }

            byte[] all =
            [
                .. Wire.HelloRequest(1),
                .. Enumerable.Range(2, (int)Messages).SelectMany(static i => Wire.Request(TestServer.Echo, (uint)i, [(byte)i])),
            ];

            // In pieces that end anywhere in a frame, before, at and after the end of the Hello.
            int hello = Wire.HelloRequest(1).Length;
            int cut = Math.Max(1, hello - (Peers / 2) + number);
            Task sending = SendAsync();
            uint pushed = 0;
            uint echoed = 1;
            while (pushed < Messages || echoed < Messages + 1)
            {
                WireFrame frame = await peer.ReadFrameAsync();
                if (frame.Type == Push)
                {
                    Assert.Equal(pushed++, BitConverter.ToUInt32(frame.Body));
                }
                else if (frame.Type == TestServer.Echo)
                {
                    Assert.Equal(++echoed, frame.Correlation);
                }
            }

            await sending;

            async Task SendAsync()
            {
                await peer.SendAsync(all[..cut]);
                await peer.SendAsync(all[cut..(cut + 40)]);
                await peer.SendAsync(all[(cut + 40)..]);
            }
        }
    }
}
