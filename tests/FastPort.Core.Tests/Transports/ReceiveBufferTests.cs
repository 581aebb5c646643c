using System.Buffers;
using FastPort.Connections;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>How much a receive asks for.</summary>
public sealed class ReceiveBufferTests
{
    private const int Least = ReceiveBuffer.LeastRoom;
    private const int Most = ReceiveBuffer.MostRoom;

    private readonly ReceiveBuffer _buffer = Make(4 * Most);

    [Fact]
    public void A_receive_that_fills_its_room_doubles_the_next_up_to_the_most()
    {
        for (int expected = Least; expected <= Most; expected *= 2)
        {
            Assert.Equal(expected, Receive(static room => room));
        }

        Assert.Equal(Most, Receive(static room => room));
    }

    [Fact]
    public void One_that_does_not_takes_an_eighth_off_down_to_the_least()
    {
        for (int i = 0; i < 4; i++)
        {
            Receive(static room => room);
        }

        int capacity = 0;
        for (int i = 0; i < 40; i++)
        {
            Receive(static _ => 1);
            _buffer.Ring.TryReleaseWhenEmpty();
            int before = capacity;
            _buffer.MakeRoom();
            capacity = _buffer.Ring.Capacity;
            Assert.True(before == 0 || capacity <= before);
        }

        Assert.Equal(Least, capacity);
    }

    [Fact]
    public void Bytes_are_counted_and_room_that_was_not_filled_tells_that_there_is_no_more()
    {
        Span<byte> room = _buffer.MakeRoom();
        room[0] = 7;
        Assert.False(_buffer.Received(1, room.Length));
        Assert.Equal((1, 1L), (_buffer.Ring.Length, _buffer.BytesReceived));
        room = _buffer.MakeRoom();
        Assert.True(_buffer.Received(room.Length, room.Length));
        Assert.Equal(7, _buffer.Ring.FirstReadableSpan[0]);
        Assert.Equal(_buffer.Ring.Length, _buffer.BytesReceived);
    }

    [Fact]
    public void A_ring_that_is_nearly_full_has_the_room_that_is_left_and_a_full_one_says_so()
    {
        ReceiveBuffer small = Make(2000);
        Assert.False(small.Received(1900, small.MakeRoom().Length));
        Assert.Equal(100, small.MakeRoom().Length);
        Assert.True(small.Received(100, 100));
        Assert.Throws<RingCapacityExceededException>(() => { small.MakeRoom(); });
    }

    private static ReceiveBuffer Make(int most) => new(most, ArrayPool<byte>.Shared);

    private int Receive(Func<int, int> count)
    {
        int room = _buffer.MakeRoom().Length;
        _buffer.Received(count(room), room);
        _buffer.Ring.Consume(_buffer.Ring.Length);
        return room;
    }
}
