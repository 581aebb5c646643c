using System.Buffers;
using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>A ring that shows bytes of others: every reading member sees them, and nothing writes to them.</summary>
public sealed class ShownBytesTests
{
    private const int Total = 12;
    private static readonly byte[] Expected = [.. Enumerable.Range(1, Total).Select(static i => (byte)i)];

    public static TheoryData<int, int> Splits()
    {
        TheoryData<int, int> splits = [];
        for (int first = 1; first <= Total; first++)
        {
            for (int consumed = 0; consumed <= Total; consumed++)
            {
                splits.Add(first, consumed);
            }
        }

        return splits;
    }

    [Theory]
    [MemberData(nameof(Splits))]
    public void Every_reading_member_sees_what_is_left_wherever_the_pieces_meet(int first, int consumed)
    {
        using Shown shown = new(first);
        ArrayPoolCircularBuffer ring = shown.Ring;
        for (int i = 0; i < consumed; i++)
        {
            ring.Consume(1);
        }

        byte[] left = Expected[consumed..];
        Assert.Equal((left.Length, left.Length == 0, (long)consumed, 0), (ring.Length, ring.IsEmpty, ring.ReadPosition, ring.Capacity));
        ring.GetReadableSpans(out ReadOnlySpan<byte> one, out ReadOnlySpan<byte> two);
        byte[] both = [.. one, .. two];
        Assert.Equal(left, both);
        Assert.Equal(left.Length == 0, ring.FirstReadableSpan.IsEmpty);
        Assert.Equal(left[..ring.FirstReadableSpan.Length], ring.FirstReadableSpan.ToArray());
        Assert.Equal(ring.FirstReadableSpan.ToArray(), ring.FirstReadableMemory.ToArray());
        for (int offset = 0; offset <= left.Length; offset++)
        {
            for (int length = 0; length <= left.Length - offset; length++)
            {
                Assert.Equal(left[offset..(offset + length)], ring.GetReadableSequence(offset, length).ToArray());
                Assert.Equal(
                    ring.GetReadableSequence(offset, length).IsSingleSegment,
                    ring.TryGetReadableSpan(offset, length, out ReadOnlySpan<byte> span));
                Assert.Equal(
                    ring.GetReadableSequence(offset, length).IsSingleSegment,
                    ring.TryGetReadableMemory(offset, length, out ReadOnlyMemory<byte> memory));
                Assert.True(span.SequenceEqual(memory.Span));
                Assert.True(span.IsEmpty || span.SequenceEqual(left.AsSpan(offset, length)));
                byte[] copy = new byte[length];
                ring.CopyTo(offset, copy);
                Assert.Equal(left[offset..(offset + length)], copy);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Splits))]
    public void They_can_be_consumed_at_once(int first, int consumed)
    {
        using Shown shown = new(first);

        shown.Ring.Consume(consumed);

        Assert.Equal(Expected[consumed..], shown.Ring.GetReadableSequence(0, Total - consumed).ToArray());
    }

    [Theory]
    [InlineData(4)]
    [InlineData(Total)]
    public void What_lies_in_one_piece_is_a_sequence_of_one_segment_that_is_the_memory_shown(int first)
    {
        using Shown shown = new(first);

        ReadOnlySequence<byte> body = shown.Ring.GetReadableSequence(
            first == Total ? 1 : first, first == Total ? Total - 1 : Total - first);

        Assert.True(body.IsSingleSegment);
        Assert.True(System.Runtime.InteropServices.MemoryMarshal.TryGetArray(body.First, out ArraySegment<byte> segment));
        Assert.Same(first == Total ? shown.First : shown.Second, segment.Array);
    }

    [Theory]
    [InlineData("write")]
    [InlineData("span")]
    [InlineData("reserve")]
    public void A_write_moves_them_to_an_array_of_the_rings_own(string how)
    {
        using Shown shown = new(5);
        ArrayPoolCircularBuffer ring = shown.Ring;
        ring.Consume(3);
        byte[] left = Expected[3..];

        switch (how)
        {
            case "write":
                ring.Write([99]);
                left = [.. left, 99];
                break;
            case "span":
                ring.GetSpan(1)[0] = 99;
                ring.Advance(1);
                left = [.. left, 99];
                break;
            default:
                Assert.True(ring.TryReserve(100));
                break;
        }

        Assert.Equal(left, ring.GetReadableSequence(0, ring.Length).ToArray());
        Assert.NotEqual(0, ring.Capacity);
        shown.AssertUntouched();

        // What is its own now stays when the showing ends.
        ring.StopShowing();
        Assert.Equal(left.Length, ring.Length);
        ring.Consume(ring.Length);
        ring.Write([1, 2]);
        Assert.Equal(2, ring.Length);
    }

    [Fact]
    public void They_go_when_the_showing_ends_and_the_ring_is_one_like_others()
    {
        using Shown shown = new(5);
        shown.Ring.Consume(2);

        shown.Ring.StopShowing();

        Assert.Equal((0, 0, (long)Total), (shown.Ring.Length, shown.Ring.Capacity, shown.Ring.ReadPosition));
        shown.Ring.Write(Expected);
        Assert.Equal(Expected, shown.Ring.GetReadableSequence(0, Total).ToArray());
        Assert.Throws<InvalidOperationException>(() => shown.Ring.Show(new ArraySegment<byte>(shown.First), default));
        shown.AssertUntouched();
    }

    [Fact]
    public void A_ring_may_show_again_and_again_and_be_disposed_while_it_does()
    {
        using Shown shown = new(5);
        for (int i = 0; i < 3; i++)
        {
            shown.Ring.Consume(Total);
            shown.Show();
        }

        Assert.Equal(Expected, shown.Ring.GetReadableSequence(0, Total).ToArray());
    }

    // With something before and after each piece that is not shown.
    private sealed class Shown : IDisposable
    {
        private readonly TrackingArrayPool _pool = new();
        private readonly int _first;

        public Shown(int first)
        {
            _first = first;
            First = [77, 77, .. Expected[..first], 77];
            Second = [88, .. Expected[first..], 88, 88];
            Ring = new ArrayPoolCircularBuffer(8, 1024, _pool);
            Show();
        }

        public ArrayPoolCircularBuffer Ring { get; }

        public byte[] First { get; }

        public byte[] Second { get; }

        public void Show() => Ring.Show(new ArraySegment<byte>(First, 2, _first), new ReadOnlyMemory<byte>(Second, 1, Total - _first));

        public void AssertUntouched()
        {
            Assert.Equal([77, 77, .. Expected[.._first], 77], First);
            Assert.Equal([88, .. Expected[_first..], 88, 88], Second);
        }

        public void Dispose()
        {
            Ring.Dispose();
            AssertUntouched();

            // Also that nothing was returned that was not rented.
            _pool.AssertAllReturned();
        }
    }
}
