using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>Queued handlers that block every thread of the pool.</summary>
public sealed class BlockedPoolTests
{
    private const ushort Echo = 0x1000;
    private const ushort Block = 0x1001;

    [LinuxTheory]
    [InlineData(TransportKind.Epoll, "tcp")]
    [InlineData(TransportKind.Epoll, "tls")]
    [InlineData(TransportKind.Epoll, "proxy")]
    public async Task New_connections_are_served_while_they_block(TransportKind transport, string way)
    {
        await using TestHostProcess host = await TestHostProcess.ServeBlockedAsync(
            transport, way == "tls" ? [way, TlsFiles.Server.CertificateFile] : [way]);

        // One of each session: the next starts when the handler has come to its first await.
        List<RawPeer> blocking = [];
        for (int i = 0; i < host.PoolThreads; i++)
        {
            RawPeer one = await ConnectAsync();
            blocking.Add(one);
            await one.SendAsync(Wire.Request(Block, 1));
        }

        Assert.Equal(host.PoolThreads, (await host.AskAsync("blocked"))["connections"]);

        using RawPeer peer = await ConnectAsync();
        await peer.SayHelloAsync();
        Assert.Equal([1, 2, 3], (await peer.CallAsync(Wire.Request(Echo, 2, [1, 2, 3]))).Body);
        blocking.ForEach(static one => one.Dispose());

        async Task<RawPeer> ConnectAsync()
        {
            RawPeer one = await RawPeer.ConnectAsync(Endpoint.Parse($"tcp://127.0.0.1:{host.Port}"));
            switch (way)
            {
                case "tls":
                    await one.EncryptAsync();
                    break;
                case "proxy":
                    await one.SendAsync("PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n"u8.ToArray());
                    break;
            }

            return one;
        }
    }
}
