using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Transports.Epoll;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>
/// Port probes of monitors and load balancers: they connect, send nothing but perhaps a proxy's own header, and are gone.
/// </summary>
public sealed class PortProbeTests
{
    private const int Probes = 5;

    // PROXY protocol, version 2, command LOCAL: the proxy speaks for itself.
    private static readonly byte[] OwnHeader = [.. "\r\n\r\n\0\r\nQUIT\n"u8, 0x20, 0, 0, 0];

    public static TheoryData<TransportKind, bool, bool, bool> Kinds
    {
        get
        {
            var kinds = new TheoryData<TransportKind, bool, bool, bool>();
            foreach (bool isReset in (bool[])[false, true])
            {
                foreach (TransportKind transport in (TransportKind[])[TransportKind.Epoll, TransportKind.Sockets])
                {
                    kinds.Add(transport, false, false, isReset);
                    kinds.Add(transport, true, false, isReset);
                    kinds.Add(transport, true, true, isReset);
                }
            }

            return kinds;
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_probe_of_an_encrypted_endpoint_is_no_rejection(
        TransportKind transport, bool isTrusted, bool hasHeader, bool isReset)
    {
        Assert.SkipUnless(EpollTransport.IsSupported || transport != TransportKind.Epoll, "Event loops are Linux's.");
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(options =>
        {
            options.Transport = transport;
            options.TrustedProxies = isTrusted ? ["127.0.0.1"] : [];
        });

        await ProbeAsync(both.Server, hasHeader, isReset);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_probe_of_a_plain_endpoint_is_no_rejection(
        TransportKind transport, bool isTrusted, bool hasHeader, bool isReset)
    {
        Assert.SkipUnless(EpollTransport.IsSupported || transport != TransportKind.Epoll, "Event loops are Linux's.");
        await using TestServer server = await TestServer.StartAsync(options: options =>
        {
            options.Transport = transport;
            options.TrustedProxies = isTrusted ? ["127.0.0.1"] : [];
        });

        await ProbeAsync(server, hasHeader, isReset);
    }

    private static async Task ProbeAsync(TestServer server, bool hasHeader, bool isReset)
    {
        for (int i = 0; i < Probes; i++)
        {
            using (RawPeer peer = await server.ConnectAsync())
            {
                if (hasHeader)
                {
                    await peer.SendAsync(OwnHeader);
                }

                await Patience.UntilAsync(() => server.Server.ConnectionCount == 1, "it was accepted");
                if (isReset)
                {
                    peer.Reset();
                }
            }

            await Patience.UntilAsync(
                () => server.Server.ConnectionCount == 0 && server.Server.ConnectionsInStages == 0, "it has ended");
        }

        Assert.DoesNotContain(server.Log.Lines, static line => line.Level >= LogLevel.Warning);
        Assert.Equal(0, server.Counts.ConnectionsRejected);
    }
}
