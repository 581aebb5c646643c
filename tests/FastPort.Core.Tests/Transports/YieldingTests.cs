using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Transports.Epoll;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>A protocol that pauses and has resumed already: it wants others to have their turn, and goes on later.</summary>
public sealed class YieldingTests
{
    private const int Bytes = 5000;

    [Theory]
    [EveryLink]
    public async Task A_protocol_that_yields_after_each_byte_is_offered_all_of_them(string link)
    {
        await using TestLink open = TestLink.Open(link);
        var server = new TestProtocol();
        server.OnBytes = input => TakeOne(server, input);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        byte[] bytes = Wire.Bytes(Bytes);

        Assert.True(client.TryWrite(bytes));
        client.Connection.Close(CloseReason.LocalClosed);
        await server.ClosedAsync();

        Assert.Equal(bytes, server.Received);
        Assert.Equal([false], server.Ends);
        Assert.True(server.Bursts >= Bytes, $"It was offered its bytes {server.Bursts} times.");
    }

    [LinuxTheory]
    [InlineData(0)]
    [InlineData(1_000)]
    public async Task The_others_of_a_loop_have_their_turn_first(int spinMicroseconds)
    {
        await using TestLink open = TestLink.Open(
            LinkKind.Tcp("one loop", () => new EpollTransport(new EpollOptions { Loops = 1, SpinMicroseconds = spinMicroseconds })));
        using var othersAreThere = new ManualResetEventSlim();
        var busy = new TestProtocol();
        busy.OnBytes = input =>
        {
            Assert.True(othersAreThere.Wait(Patience.Limit));
            return TakeOne(busy, input);
        };
        (RawEnd rawBusy, _) = await open.ConnectRawAsync(busy);
        int turns = -1;
        var other = new TestProtocol();
        other.OnBytes = input =>
        {
            turns = busy.Bursts;
            return other.Collect(input);
        };
        (RawEnd rawOther, _) = await open.ConnectRawAsync(other);

        await rawBusy.SendAsync(new byte[Bytes]);
        await Patience.UntilAsync(() => busy.Bursts == 1, "the loop is busy");
        await rawOther.SendAsync([1]);
        othersAreThere.Set();
        await Patience.UntilAsync(() => other.ReceivedBytes == 1, "the other one had its turn");

        Assert.InRange(turns, 1, 2);
        await Patience.UntilAsync(() => busy.ReceivedBytes == Bytes, "the busy one has come to its end");
    }

    /// <summary>The sockets whose events it would deliver wait nowhere in the pool.</summary>
    [LinuxTheory]
    [InlineData("inline")]
    public async Task The_runtimes_polling_thread_is_given_back_by_a_pump_without_an_end(string mode)
    {
        await using TestHostProcess host = await TestHostProcess.ServeAsync(mode);
        Endpoint endpoint = Endpoint.Parse($"tcp://127.0.0.1:{host.Port}");
        using RawPeer busy = await RawPeer.ConnectAsync(endpoint);
        using RawPeer other = await RawPeer.ConnectAsync(endpoint);
        await other.SendAsync([1]);
        Assert.Equal([1], await other.ReadBytesAsync(1));

        // Answered once: from here on its connection is served.
        await busy.SendAsync([1]);
        Assert.Equal([1], await busy.ReadBytesAsync(1));
        await busy.SendAsync([0]);

        for (byte i = 1; i < 20; i++)
        {
            await other.SendAsync([i]);
            Assert.Equal([i], await other.ReadBytesAsync(1));
        }
    }

    private static ReceiveOutcome TakeOne(TestProtocol protocol, ArrayPoolCircularBuffer input)
    {
        if (input.IsEmpty)
        {
            return ReceiveOutcome.Continue;
        }

        protocol.CollectSome(input, 1);
        protocol.Connection.ResumeReading();
        return ReceiveOutcome.Pause;
    }
}
