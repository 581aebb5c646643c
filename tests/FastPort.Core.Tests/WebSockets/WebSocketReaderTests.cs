using System.Buffers;
using FastPort.Connections;
using FastPort.Transports;
using FastPort.WebSockets;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>Frames of WebSockets, however they are cut: the payloads of binary messages are one stream of bytes.</summary>
public sealed class WebSocketReaderTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_data_is_the_same_however_it_is_cut_into_messages_fragments_and_receives(bool isMasked)
    {
        for (int seed = 1; seed <= 300; seed++)
        {
            var random = new Random(seed);
            byte[] expected = new byte[random.Next(0, 5_000)];
            random.NextBytes(expected);
            byte[] wire = Frames(random, expected, isMasked);
            var reader = new WebSocketReader(isMasked);
            using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
            var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);

            for (int at = 0; at < wire.Length;)
            {
                int count = Math.Min(wire.Length - at, random.Next(1, seed % 3 == 0 ? 3 : 400));
                input.Write(wire.AsSpan(at, count));
                at += count;
                Assert.Equal(WebSocketProgress.Read, reader.Read(input, data, int.MaxValue));
            }

            Assert.True(expected.AsSpan().SequenceEqual(data.Ring.GetReadableSequence(0, data.Ring.Length).ToArray()), $"seed {seed}");
            Assert.True(input.IsEmpty);
            data.Ring.Dispose();
        }
    }

    [Fact]
    public void A_turn_has_so_many_frames_and_the_next_one_goes_on()
    {
        var reader = new WebSocketReader(expectsMask: false);
        using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
        var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);
        for (byte i = 0; i < 100; i++)
        {
            for (int j = 0; j < 100; j++)
            {
                input.Write([0x82, 1, i]);
            }
        }

        for (int left = 10_000; left != 0;)
        {
            Assert.Equal(WebSocketProgress.Read, reader.Read(input, data, int.MaxValue));
            left = Math.Max(0, left - WebSocketReader.FramesPerTurn);
            Assert.Equal(10_000 - left, data.Ring.Length);
            Assert.Equal(left != 0, reader.IsTurnOver);
            reader.BeginTurn();
        }

        data.Ring.Dispose();
    }

    [Fact]
    public void Frames_without_data_are_counted_but_those_that_end_a_message_with_data()
    {
        var reader = new WebSocketReader(expectsMask: false);
        using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
        var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);

        for (int i = 0; i < 3; i++)
        {
            input.Write([0x02, 1, 7, 0x80, 0]);
            reader.Read(input, data, int.MaxValue);
            Assert.Equal((0, 0), reader.WithoutData);
        }

        input.Write([0x82, 0, 0x89, 1, 5, 0x8A, 0, 0x82, 1, 7]);
        reader.Read(input, data, int.MaxValue);
        Assert.Equal((3, 2 + 3 + 2), reader.WithoutData);
        data.Ring.Dispose();
    }

    [Fact]
    public void Only_the_last_Ping_of_a_read_is_answered()
    {
        var reader = new WebSocketReader(expectsMask: false);
        using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
        var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);
        input.Write([0x89, 2, 1, 2, 0x89, 1, 3, 0x8A, 1, 4]);

        reader.Read(input, data, int.MaxValue);

        Assert.True(reader.HasPing);
        Assert.Equal([3], reader.TakePing().ToArray());
        Assert.False(reader.HasPing);
        data.Ring.Dispose();
    }

    [Fact]
    public void Masking_is_undone_by_itself_from_any_offset()
    {
        byte[] bytes = new byte[200];
        new Random(1).NextBytes(bytes);
        for (int cut = 0; cut < 100; cut++)
        {
            byte[] masked = new byte[bytes.Length];
            uint key = WebSocketMask.Copy(bytes.AsSpan(0, cut), masked, 0x12345678);
            WebSocketMask.Copy(bytes.AsSpan(cut), masked.AsSpan(cut), key);

            WebSocketMask.Copy(masked, masked, 0x12345678);

            Assert.Equal(bytes, masked);
        }
    }

    // What is read, the close code of the answer, and a part of the reason.
    public static TheoryData<byte[], ushort, string> Violations => new()
    {
        { [0xC2, 0x80, 0, 0, 0, 0], 1002, "reserved bits 4" },
        { [0x81, 0x80, 0, 0, 0, 0], 1003, "text" },
        { [0x83, 0x80, 0, 0, 0, 0], 1002, "kind 3" },
        { [0x8B, 0x80, 0, 0, 0, 0], 1002, "kind 11" },
        { [0x82, 0x00], 1002, "not masked" },
        { [0x82, 0xFE, 0, 125, 0, 0, 0, 0], 1002, "fewest bytes" },
        { [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0], 1002, "fewest bytes" },
        { [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1002, "2^63" },
        { [0x89, 0xFE, 0, 126, 0, 0, 0, 0], 1002, "control frame of 126 bytes" },
        { [0x09, 0x80, 0, 0, 0, 0], 1002, "in fragments" },
        { [0x80, 0x80, 0, 0, 0, 0], 1002, "continuation of no message" },
        { [0x02, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0], 1002, "before the end of the last" },
        { [0x88, 0x81, 0, 0, 0, 0, 3], 1002, "code 0" },
        { [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], 1002, "code 1005" },
        { [0x88, 0x83, 0, 0, 0, 0, 0x03, 0xE8, 0xFF], 1007, "UTF-8" },
    };

    [Theory]
    [MemberData(nameof(Violations))]
    public void A_violation_has_its_close_code_and_a_reason(byte[] wire, ushort code, string reason)
    {
        var reader = new WebSocketReader(expectsMask: true);
        using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
        var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);
        input.Write(wire);

        Assert.Equal(WebSocketProgress.Violated, reader.Read(input, data, int.MaxValue));

        Assert.Equal(code, reader.CloseCode);
        Assert.Contains(reason, reader.Violation, StringComparison.Ordinal);
        data.Ring.Dispose();
    }

    // Messages of random lengths, in random fragments, with empty ones and control frames between them.
    private static byte[] Frames(Random random, byte[] data, bool isMasked)
    {
        List<byte> wire = [];
        bool isInMessage = false;
        for (int at = 0; at < data.Length || isInMessage;)
        {
            if (random.Next(4) == 0)
            {
                byte[] payload = new byte[random.Next(0, 126)];
                random.NextBytes(payload);
                Add(random.Next(2) == 0 ? WebSocketOpcode.Ping : WebSocketOpcode.Pong, isFinal: true, payload);
            }

            int count = Math.Min(data.Length - at, random.Next(8) switch { 0 => 0, 1 => 126, 2 => 70_000, _ => random.Next(1, 300) });
            bool isFinal = random.Next(2) == 0;
            Add(isInMessage ? WebSocketOpcode.Continuation : WebSocketOpcode.Binary, isFinal, data.AsSpan(at, count));
            isInMessage = !isFinal;
            at += count;
        }

        return [.. wire];

        void Add(WebSocketOpcode opcode, bool isFinal, ReadOnlySpan<byte> payload)
        {
            uint? mask = isMasked ? (uint)random.Next() : null;
            byte[] frame = new byte[WebSocketHeader.MaxSize + payload.Length];
            int size = WebSocketHeader.Write(frame, opcode, payload.Length, mask);
            if (!isFinal)
            {
                frame[0] &= 0x7F;
            }

            payload.CopyTo(frame.AsSpan(size));
            if (mask is { } key)
            {
                WebSocketMask.Copy(payload, frame.AsSpan(size), key);
            }

            wire.AddRange(frame[..(size + payload.Length)]);
        }
    }
}
