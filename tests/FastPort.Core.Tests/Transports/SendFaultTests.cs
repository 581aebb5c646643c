using System.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Buffers;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>
/// What goes wrong on the way out ends what it belongs to, and nothing else: no lock stays taken, no loop dies, no count is made up.
/// </summary>
public sealed class SendFaultTests
{
    [Theory, EveryLink]
    public async Task A_writer_that_finds_no_memory_keeps_no_other_from_writing(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        // From the second burst on room is made for as much as the one before had, before anything is written; once the first one's array
        // is given back.
        CancellationToken token = Patience.Token;
        int written = 0;
        for (bool refused = false; !refused;)
        {
            Assert.False(token.IsCancellationRequested, "Nothing was rented.");
            Assert.True(await client.SendAsync(new byte[10]));
            await server.ReceivedAsync(written += 10);
            try
            {
                open.Pool.FailRentsWithin(() => Assert.True(client.TryWrite([1])));
                client.Connection.Flush();
                written++;
            }
            catch (RentRefusedException)
            {
                refused = true;
            }
        }

        Assert.True(await Task.Run(() => client.TryWrite([2])).InTimeAsync());
        client.Connection.Flush();
        await server.ReceivedAsync(written + 1);
    }

    // By the thread that lends and, where the link has one, by the loop at the end of its round.
    public static TheoryData<string, int, bool> Gone()
    {
        var data = new TheoryData<string, int, bool>();
        foreach (LinkKind link in Links.All)
        {
            data.Add(link.Name, 20_000, false);
            data.Add(link.Name, 20_000, true);
            data.Add(link.Name, 100_000, false);
            data.Add(link.Name, 100_000, true);
        }

        return data;
    }

    [Theory]
    [MemberData(nameof(Gone))]
    public async Task Memory_that_is_gone_before_it_is_sent_ends_its_own_connection_alone(string link, int bytes, bool withinBurst)
    {
        int releases = 0;
        using var memory = new GoneMemory(bytes);
        await using TestLink open = TestLink.Open(link);
        (TestProtocol neighbour, TestProtocol served) = await open.ConnectAsync();
        var server = new TestProtocol();
        void Lend() => Assert.True(server.TryLend(memory.Memory, _ => Interlocked.Increment(ref releases), null));
        server.OnBytes = input =>
        {
            input.Consume(input.Length);
            if (withinBurst)
            {
                Lend();
                server.Connection.Flush();
            }

            return ReceiveOutcome.Continue;
        };
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        await client.SendAsync(new byte[1]);
        await Patience.UntilAsync(() => server.Bursts > 0, "the byte was offered");
        if (!withinBurst)
        {
            Lend();
            server.Connection.Flush();
        }

        CloseReason reason = await server.ClosedAsync();
        await client.ClosedAsync();
        Assert.Equal(1, Volatile.Read(ref releases));

        // Within a process nothing is sent: the receiver reads what was lent, and finds it gone.
        Assert.True(
            reason.Kind == CloseKind.Internal
                || link.StartsWith("in process", StringComparison.Ordinal), $"{reason.Kind}: {reason.Message}");
        Assert.True(await neighbour.SendAsync(new byte[10]));
        await served.ReceivedAsync(10);
    }

    [Theory, EveryLink]
    public async Task Lent_memory_without_a_byte_is_given_back_and_holds_nothing_up(string link)
    {
        int releases = 0;
        bool answered = false;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(link);
        void SendAround(TestProtocol end)
        {
            Lend();
            Assert.True(end.TryWrite([1]));
            Lend();
            Assert.True(end.TryWrite([2]));
            Lend();
            end.Connection.Flush();

            void Lend() => Assert.True(end.TryLend(ReadOnlyMemory<byte>.Empty, _ => Interlocked.Increment(ref releases), null));
        }

        server.OnBytes = input =>
        {
            if (!answered)
            {
                answered = true;
                SendAround(server);
            }

            return server.Collect(input);
        };
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        SendAround(client);
        await server.ReceivedAsync(2);
        await client.ReceivedAsync(2);
        Assert.Equal([1, 2], server.Received);
        Assert.Equal([1, 2], client.Received);

        client.Connection.Close(CloseReason.LocalClosed);
        await server.ClosedAsync();
        await client.ClosedAsync();
        Assert.Equal(6, Volatile.Read(ref releases));
    }

    [Theory, EveryLink]
    public async Task What_is_dropped_is_not_counted_as_sent(string link)
    {
        // More than the system ever holds for a peer that does not read.
        const int Bytes = 12_000_000;
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause };
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 2 * Bytes });
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        Assert.True(await client.SendAsync(new byte[1]));
        await Patience.UntilAsync(() => server.Bursts > 0, "the byte was offered");
        Assert.True(client.TryWrite(new byte[Bytes]));
        client.Connection.Flush();
        await Patience.UntilAsync(() => client.Connection.IsSendBlocked, "the link took no more");

        client.Connection.Abort(CloseReason.LocalClosed);

        await client.ClosedAsync();
        Assert.InRange(client.Connection.BytesSent, 1, Bytes - 1);
        Assert.Equal(0, client.Connection.PendingBytes);
    }

    // As a pooled buffer that somebody disposes of too early.
    private sealed class GoneMemory(int length) : MemoryManager<byte>
    {
        public override Memory<byte> Memory => CreateMemory(length);

        public override Span<byte> GetSpan() => throw new ObjectDisposedException(nameof(GoneMemory));

        public override MemoryHandle Pin(int elementIndex = 0) => throw new ObjectDisposedException(nameof(GoneMemory));

        public override void Unpin()
        {
        }

        protected override void Dispose(bool disposing)
        {
        }
    }
}
