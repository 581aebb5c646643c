using System.Runtime.InteropServices;
using FastPort.Redis.Wire;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Redis.Tests.Wire;

public sealed class BatchTests
{
    [Fact]
    public void What_is_written_is_read() => Prop.ForAll(
        ArbMap.Default.ArbFor<(byte Kind, byte[] Payload)[]>(),
        entries =>
        {
            var buffer = new BatchBuffer();
            foreach ((byte kind, byte[] payload) in entries)
            {
                payload.CopyTo(buffer.Add((EntryKind)kind, payload.Length));
            }

            buffer.Seal(7, 9);
            Assert.True(BatchReader.TryOpen(buffer.Memory.Span, out BatchReader reader));
            Assert.Equal((7UL, 9UL), (reader.Sender, reader.Number));
            foreach ((byte kind, byte[] payload) in entries)
            {
                Assert.True(reader.Read());
                Assert.Equal((EntryKind)kind, reader.Kind);
                Assert.Equal(payload, reader.Payload.ToArray());
            }

            Assert.False(reader.Read());
            return !reader.IsTruncated;
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_large_array_is_kept_while_batches_follow_each_other_and_given_back_in_a_pause()
    {
        var buffer = new BatchBuffer();
        buffer.Add(EntryKind.Relay, 1024 * 1024);
        buffer.Clear();
        Assert.True(Capacity(buffer) > 1024 * 1024);

        buffer.Trim();

        Assert.InRange(Capacity(buffer), BatchBuffer.HeaderSize, 128 * 1024);
        buffer.Add(EntryKind.Seen, 8).Fill(7);
        buffer.Seal(1, 2);
        Assert.True(BatchReader.TryOpen(buffer.Memory.Span, out BatchReader reader));
        Assert.True(reader.Read());
        Assert.Equal(Enumerable.Repeat((byte)7, 8), reader.Payload.ToArray());
        Assert.False(reader.Read());
    }

    [Fact]
    public void Every_cut_gives_whole_entries_and_says_that_it_is_cut()
    {
        var buffer = new BatchBuffer();
        int[] ends = [.. Enumerable.Range(1, 5).Select(size =>
        {
            buffer.Add(EntryKind.Seen, size * 3);
            return buffer.Length;
        })];
        buffer.Seal(1, 1);
        for (int length = BatchBuffer.HeaderSize; length <= buffer.Length; length++)
        {
            Assert.True(BatchReader.TryOpen(buffer.Memory.Span[..length], out BatchReader reader));
            int read = 0;
            while (reader.Read())
            {
                read++;
            }

            Assert.Equal(ends.Count(end => end <= length), read);
            Assert.Equal(length != BatchBuffer.HeaderSize && !ends.Contains(length), reader.IsTruncated);
        }
    }

    [Fact]
    public void Hostile_bytes_are_read_without_an_exception()
    {
        var random = new Random(5);
        byte[] bytes = new byte[200];
        for (int i = 0; i < 200_000; i++)
        {
            random.NextBytes(bytes);
            Span<byte> message = bytes.AsSpan(0, random.Next(bytes.Length));
            if (message.Length >= 4 && i % 4 != 0)
            {
                "FPB"u8.CopyTo(message);
                message[3] = BatchBuffer.Version;
            }

            if (message.Length > 26 && i % 2 == 0)
            {
                // A plausible length of the first entry.
                BitConverter.TryWriteBytes(message[21..], random.Next(-4, message.Length));
            }

            if (!BatchReader.TryOpen(message, out BatchReader reader))
            {
                continue;
            }

            int entries = 0;
            while (reader.Read())
            {
                entries++;
                _ = RelayEntry.TryRead(reader.Payload, out _);
            }

            Assert.True(entries <= message.Length);
        }
    }

    [Fact]
    public void A_relay_is_read_as_it_was_written() => Prop.ForAll(
        ArbMap.Default.ArbFor<(ulong Correlation, ulong Origin, long Token, ushort Type, byte Hops)>(),
        ArbMap.Default.ArbFor<byte[]>(),
        ArbMap.Default.ArbFor<byte[]>(),
        (numbers, id, body) =>
        {
            byte[] bytes = new byte[RelayEntry.FixedSize + id.Length + body.Length];
            RelayEntry.WriteHead(bytes, numbers.Correlation, numbers.Origin, numbers.Token, numbers.Type, numbers.Hops, id);
            body.CopyTo(bytes, RelayEntry.FixedSize + id.Length);
            Assert.True(RelayEntry.TryRead(bytes, out RelayEntry read));
            Assert.Equal(numbers, (read.Correlation, read.Origin, read.Token, read.Type, read.Hops));
            Assert.Equal(id, read.Id.ToArray());
            Assert.False(RelayEntry.TryRead(bytes.AsSpan(0, RelayEntry.FixedSize + id.Length - 1), out _));
            return read.Body.SequenceEqual(body);
        }).QuickCheckThrowOnFailure();

    private static int Capacity(BatchBuffer buffer)
    {
        Assert.True(MemoryMarshal.TryGetArray(buffer.Memory, out ArraySegment<byte> segment));
        return segment.Array!.Length;
    }
}
