using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Connections;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>The encrypted bytes of a session, without its decryption.</summary>
public sealed class RecordStreamTests
{
    private const int Bound = 64 * 1024;

    [Fact]
    public async Task Records_without_data_are_bounded_and_data_lets_the_peer_begin_anew()
    {
        using var clock = new ConnectionClock();
        await using var records = new RecordStream(new FakeConnection(clock), HandshakeWorkers.Clients);
        using var burst = new ArrayPoolCircularBuffer(1024, 1024 * 1024);
        burst.Write(new byte[3 * Bound]);
        records.BeginData();
        records.Offer(burst);
        byte[] room = new byte[Bound];

        Assert.Equal(Bound, await records.ReadAsync(room, TestContext.Current.CancellationToken));
        records.Decrypted();
        Assert.Equal(Bound, await records.ReadAsync(room, TestContext.Current.CancellationToken));
        Assert.Equal(1, await records.ReadAsync(room.AsMemory(0, 1), TestContext.Current.CancellationToken));

        IOException e = await Assert.ThrowsAsync<IOException>(
            () => records.ReadAsync(room, TestContext.Current.CancellationToken).AsTask());
        Assert.Equal("the peer sent more than 65536 bytes of TLS records without data", e.Message);
    }
}
