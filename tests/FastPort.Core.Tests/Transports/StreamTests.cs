using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Bytes arrive as they were sent, however they are cut.</summary>
public sealed class StreamTests
{
    [Theory, EveryLink]
    public async Task What_is_sent_comes_back_in_pieces_of_every_size(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(TestProtocol.Echo());
        var random = new Random(11);

        for (int i = 0; i < 200; i++)
        {
            byte[] sent = new byte[random.Next(5) == 0 ? random.Next(1, 50_000) : random.Next(1, 100)];
            random.NextBytes(sent);
            await raw.SendAsync(sent);
            Assert.Equal(sent, await raw.ReadAsync(sent.Length));
        }
    }

    [Theory, EveryLink]
    public async Task A_message_may_be_cut_at_every_byte(string link)
    {
        const int Size = 24;
        byte[] message = Wire.Bytes(Size);
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            while (input.Length >= Size)
            {
                byte[] next = new byte[Size];
                input.CopyTo(0, next);
                input.Consume(Size);
                server.TryWrite(next);
            }

            return ReceiveOutcome.Continue;
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        for (int cut = 1; cut < Size; cut++)
        {
            long before = server.Connection.BytesReceived;
            int bursts = server.Bursts;
            await raw.SendAsync(message[..cut]);
            await Patience.UntilAsync(
                () => server.Connection.BytesReceived == before + cut && server.Bursts != bursts, "the first part was offered");
            await raw.SendAsync(message[cut..]);
            Assert.Equal(message, await raw.ReadAsync(Size));
        }
    }

    [Theory, EveryLink]
    public async Task Messages_that_come_byte_by_byte_and_in_heaps_are_the_same(string link)
    {
        // Always the last 7 bytes are left unread, so every arrival is joined with a rest.
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            if (input.Length > 7)
            {
                byte[] taken = new byte[input.Length - 7];
                input.CopyTo(0, taken);
                input.Consume(taken.Length);
                server.TryWrite(taken);
            }

            return ReceiveOutcome.Continue;
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);
        var random = new Random(5);
        byte[] all = new byte[300_000];
        random.NextBytes(all);

        Task sending = Task.Run(async () =>
        {
            for (int at = 0; at < all.Length;)
            {
                int piece = Math.Min(all.Length - at, at < 2000 ? 1 : random.Next(1, 20_000));
                await raw.SendAsync(all[at..(at + piece)]);
                at += piece;
            }
        });

        Assert.Equal(all[..^7], await raw.ReadAsync(all.Length - 7));
        await sending;
    }

    [Theory, EveryLink]
    public async Task Large_streams_in_both_directions_at_once_arrive_unchanged(string link)
    {
        const int Length = 12_000_000;
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 256 * 1024, MaxReceiveBytes = 100_000 });
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        byte[] up = new byte[Length];
        byte[] down = new byte[Length];
        new Random(1).NextBytes(up);
        new Random(2).NextBytes(down);

        Task<bool>[] sending = [Task.Run(() => client.SendAsync(up, 50_000)), Task.Run(() => server.SendAsync(down, 9_999))];

        Assert.All(await Task.WhenAll(sending).InTimeAsync(), Assert.True);
        await Task.WhenAll(client.ReceivedAsync(Length), server.ReceivedAsync(Length));
        Assert.True(down.AsSpan().SequenceEqual(client.Received));
        Assert.True(up.AsSpan().SequenceEqual(server.Received));
        foreach (Connection connection in new[] { client.Connection, server.Connection })
        {
            await Patience.UntilAsync(() => connection.PendingBytes == 0, "everything was sent and booked");
            Assert.Equal((Length, Length), (connection.BytesSent, connection.BytesReceived));
        }
    }

    [Theory, EveryLink]
    public async Task Several_threads_write_whole_pieces_in_their_own_order(string link)
    {
        const int Threads = 4;
        const int Pieces = 3_000;
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 64 * 1024 });
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        Task[] writing = [.. Enumerable.Range(0, Threads).Select(thread => Task.Run(async () =>
        {
            for (int i = 0; i < Pieces; i++)
            {
                // Length, thread, number, and the number once more at the end.
                byte[] piece = new byte[12 + (i % 50)];
                BitConverter.TryWriteBytes(piece, piece.Length);
                BitConverter.TryWriteBytes(piece.AsSpan(4), (thread << 24) | i);
                BitConverter.TryWriteBytes(piece.AsSpan(piece.Length - 4), i);
                while (!client.TryWrite(piece))
                {
                    client.Connection.Flush();
                    await Task.Yield();
                }

                if (i % 7 == thread)
                {
                    client.Connection.Flush();
                }
            }

            client.Connection.Flush();
        }))];
        await Task.WhenAll(writing).InTimeAsync();

        int total = Threads * Enumerable.Range(0, Pieces).Sum(static i => 12 + (i % 50));
        await server.ReceivedAsync(total);
        byte[] received = server.Received;
        int[] next = new int[Threads];
        for (int at = 0; at < received.Length;)
        {
            int length = BitConverter.ToInt32(received, at);
            int thread = received[at + 7];
            int number = BitConverter.ToInt32(received, at + 4) & 0xFF_FFFF;
            Assert.Equal((next[thread]++, number), (number, BitConverter.ToInt32(received, at + length - 4)));
            at += length;
        }

        Assert.All(next, static n => Assert.Equal(Pieces, n));
    }

    [Theory, EveryLink]
    public async Task Batches_arrive_behind_what_was_written_before_them(string link)
    {
        var random = new Random(16);
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        List<byte> sent = [];
        byte next = 0;

        for (int i = 0; i < 200; i++)
        {
            ArrayPoolCircularBuffer batch = client.Connection.BeginBatch();
            ArrayPoolCircularBuffer other = client.Connection.BeginBatch();
            other.Write([1, 2, 3]);
            for (int chunk = random.Next(4); chunk >= 0; chunk--)
            {
                if (random.Next(3) == 0)
                {
                    byte[] before = Some();
                    Assert.True(client.TryWrite(before));
                    sent.AddRange(before);
                }

                byte[] collected = Some();
                batch.Write(collected);
                ArrayPoolCircularBuffer ring = client.Connection.BeginWrite()!;
                Assert.True(client.Connection.TryAppendBatch(ring, ref batch));
                client.Connection.EndWrite();
                Assert.True(batch.IsEmpty);
                sent.AddRange(collected);
                if (random.Next(2) == 0)
                {
                    client.Connection.Flush();
                }
            }

            // What was not appended is dropped.
            batch.Write([7]);
            client.Connection.EndBatch(batch);
            client.Connection.EndBatch(other);
            client.Connection.Flush();
            if (i % 50 == 0)
            {
                await server.ReceivedAsync(sent.Count);
            }
        }

        await server.ReceivedAsync(sent.Count);
        Assert.True(sent.ToArray().AsSpan().SequenceEqual(server.Received));
        await Patience.UntilAsync(() => client.Connection.PendingBytes == 0, "everything was sent and booked");
        Assert.Equal(sent.Count, client.Connection.BytesSent);

        byte[] Some()
        {
            byte[] some = new byte[random.Next(1, random.Next(4) == 0 ? 8_000 : 200)];
            some.AsSpan().Fill(next++);
            return some;
        }
    }

    [Theory, EveryLink]
    public async Task What_is_written_in_a_burst_needs_no_flush(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(TestProtocol.Echo());

        await raw.SendAsync([1]);

        Assert.Equal([1], await raw.ReadAsync(1));
    }

    [Theory, EveryLink]
    public async Task What_a_protocol_writes_when_it_is_opened_is_sent(string link)
    {
        TestProtocol server = null!;
        server = new TestProtocol
        {
            Opened = () =>
            {
                server.TryWrite([1, 2, 3]);
                server.Connection.Flush();
            },
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        Assert.Equal([1, 2, 3], await raw.ReadAsync(3));
    }
}
