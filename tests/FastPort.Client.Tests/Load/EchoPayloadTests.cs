using System.Buffers;
using FastPort.Client.Load;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class EchoPayloadTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(8)]
    [InlineData(15)]
    [InlineData(16)]
    [InlineData(127)]
    [InlineData(128)]
    [InlineData(16_384)]
    [InlineData(3_000_000)]
    public void Is_the_encoding_of_an_Echo_message(int size)
    {
        var payload = new EchoPayload(size);
        byte[] body = Written(payload, 0x0102030405060708);

        Assert.Equal(EchoPayload.BodySize(size), body.Length);
        var echo = Echo.Parser.ParseFrom(body);
        Assert.Equal(size, echo.Payload.Length);
        Assert.Equal(body, Google.Protobuf.MessageExtensions.ToByteArray(echo));
        Assert.True(payload.Matches(new ReadOnlySequence<byte>(body), 0x0102030405060708));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(16)]
    [InlineData(40)]
    public void Tells_every_changed_byte_and_every_other_length(int size)
    {
        var payload = new EchoPayload(size);
        byte[] body = Written(payload, ulong.MaxValue / 3);
        for (int i = 0; i < body.Length; i++)
        {
            byte[] changed = [.. body];
            changed[i] ^= 1;
            Assert.False(payload.Matches(new ReadOnlySequence<byte>(changed), ulong.MaxValue / 3));
        }

        Assert.False(payload.Matches(new ReadOnlySequence<byte>(body[..^1]), ulong.MaxValue / 3));
        Assert.False(payload.Matches(new ReadOnlySequence<byte>([.. body, 0]), ulong.MaxValue / 3));
        Assert.False(payload.Matches(new ReadOnlySequence<byte>(body), (ulong.MaxValue / 3) + 1));
    }

    [Fact]
    public void Compares_a_body_that_lies_in_two_segments()
    {
        var payload = new EchoPayload(40);
        byte[] body = Written(payload, 42);
        for (int split = 0; split <= body.Length; split++)
        {
            var first = new Segment(body.AsMemory(0, split), 0);
            var second = first.Append(body.AsMemory(split));
            var sequence = new ReadOnlySequence<byte>(first, 0, second, second.Memory.Length);
            Assert.True(payload.Matches(sequence, 42));
            Assert.False(payload.Matches(sequence, 43));
        }
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 0)]
    [InlineData(3, 1)]
    [InlineData(129, 127)]
    [InlineData(130, 127)]
    [InlineData(131, 128)]
    [InlineData(1_048_568, 1_048_564)]
    public void Knows_the_largest_payload_of_a_body(int body, int payload) => Assert.Equal(payload, EchoPayload.LargestPayload(body));

    private static byte[] Written(EchoPayload payload, ulong stamp)
    {
        byte[] body = new byte[payload.Length];
        payload.Write(body, stamp);
        return body;
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, long index)
        {
            Memory = memory;
            RunningIndex = index;
        }

        public Segment Append(ReadOnlyMemory<byte> memory)
        {
            var next = new Segment(memory, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
