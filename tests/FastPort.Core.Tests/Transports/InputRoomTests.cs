using System.Collections.Concurrent;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>A protocol that reserves room for a long message, and one that needs its messages in one piece.</summary>
public sealed class InputRoomTests
{
    [Theory, EveryLink]
    public async Task Room_reserved_for_a_message_is_there_until_the_message_is(string link)
    {
        const int Length = 300_000;
        byte[] message = [.. BitConverter.GetBytes(Length), .. Wire.Bytes(Length)];
        ConcurrentQueue<(int Unread, int Capacity)> seen = new();
        var whole = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            seen.Enqueue((input.Length, input.Capacity));
            if (input.TryGetContiguous(message.Length, out ReadOnlySpan<byte> all))
            {
                whole.SetResult(all.ToArray());
                input.Consume(message.Length);
            }
            else
            {
                Assert.True(input.TryReserve(message.Length - input.Length));
            }

            return ReceiveOutcome.Continue;
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        int sent = 0;
        foreach (int piece in (int[])[4, 1, 100, 3_000, 40_000])
        {
            await raw.SendAsync(message[sent..(sent + piece)]);
            sent += piece;
            await Patience.UntilAsync(() => seen.LastOrDefault().Unread == sent, "the piece was offered");
        }

        await raw.SendAsync(message[sent..]);

        Assert.Equal(message, await whole.Task.InTimeAsync());
        Assert.All(seen.Skip(1), one => Assert.InRange(one.Capacity, message.Length, 2 * message.Length));
    }

    [Theory, EveryLink]
    public async Task Room_beyond_the_limit_of_the_receiving_side_is_refused(string link)
    {
        var answers = new TaskCompletionSource<(bool, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            answers.TrySetResult((input.TryReserve(10_000 - input.Length), input.TryReserve(10_001 - input.Length)));
            return server.Collect(input);
        };
        await using TestLink open = TestLink.Open(link, static s => s with { MaxReceiveBytes = 10_000 });
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync(new byte[100]);

        Assert.Equal((true, false), await answers.Task.InTimeAsync());
    }

    [Theory, EveryLink]
    public async Task Messages_come_in_one_piece_wherever_they_are_split(string link)
    {
        byte[][] messages = [Wire.Bytes(40, 1), Wire.Bytes(1, 2), Wire.Bytes(60, 3)];
        byte[] bytes = [.. messages.SelectMany(static m => (byte[])[(byte)m.Length, .. m])];
        (TestProtocol server, ConcurrentQueue<byte[]> received) = Receiver();
        await using TestLink open = TestLink.Open(link, static s => s with { MaxReceiveBytes = 1_024 });
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        for (int split = 1; split < bytes.Length; split++)
        {
            int bursts = server.Bursts;
            await raw.SendAsync(bytes[..split]);
            await Patience.UntilAsync(() => server.Bursts > bursts, "the first part was offered");
            await raw.SendAsync(bytes[split..]);
            await Patience.UntilAsync(() => received.Count == messages.Length, "all messages were received");
            Assert.Equal(messages, received);
            received.Clear();
        }
    }

    [Theory, EveryLink]
    public async Task A_stream_of_messages_comes_in_pieces_that_are_whole(string link)
    {
        const int Count = 5_000;
        (TestProtocol server, ConcurrentQueue<byte[]> received) = Receiver();
        await using TestLink open = TestLink.Open(link, static s => s with { MaxReceiveBytes = 1_024 });
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        List<byte> stream = [];
        for (int i = 0; i < Count; i++)
        {
            byte[] message = Message(i);
            stream.Add((byte)message.Length);
            stream.AddRange(message);
        }

        Assert.True(await client.SendAsync(stream.ToArray(), 777));

        await Patience.UntilAsync(() => received.Count == Count, "all messages were received");
        Assert.All(received, static (message, i) => Assert.Equal(Message(i), message));
    }

    [Theory, EveryLink]
    public async Task A_message_of_copied_and_lent_parts_comes_in_one_piece(string link)
    {
        (TestProtocol server, ConcurrentQueue<byte[]> received) = Receiver();
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        byte[] message = Wire.Bytes(200);

        for (int split = 1; split < message.Length; split++)
        {
            var lent = new BorrowedBuffer(message[split..]);
            Assert.True(client.TryWrite([(byte)message.Length, .. message[..split]]));
            Assert.True(client.TryLend(lent.Bytes, BorrowedBuffer.Release, lent));
            client.Connection.Flush();
        }

        await Patience.UntilAsync(() => received.Count == message.Length - 1, "all messages were received");
        Assert.All(received, one => Assert.Equal(message, one));
    }

    private static byte[] Message(int i) => Wire.Bytes((i * 31) % 256, i);

    // A message is a byte that says how long it is, and so many bytes.
    private static (TestProtocol Server, ConcurrentQueue<byte[]> Received) Receiver()
    {
        ConcurrentQueue<byte[]> received = new();
        var server = new TestProtocol
        {
            OnBytes = input =>
            {
                while (input.TryGetContiguous(1, out ReadOnlySpan<byte> head)
                    && input.TryGetContiguous(1 + head[0], out ReadOnlySpan<byte> message))
                {
                    received.Enqueue(message[1..].ToArray());
                    input.Consume(message.Length);
                }

                return ReceiveOutcome.Continue;
            },
        };
        return (server, received);
    }
}
