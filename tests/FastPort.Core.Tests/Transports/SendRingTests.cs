using FastPort.Core.Tests.Buffers;
using FastPort.Transports;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>
/// What is written, lent and shown of an input leaves in that order, in whatever pieces, and input is used no more once it has been copied.
/// </summary>
public sealed class SendRingTests
{
    [Fact]
    public void Everything_leaves_in_order_however_it_was_put_there_and_is_taken() =>
        Check.One(Config.QuickThrowOnFailure.WithMaxTest(300), Prop.ForAll(Gen.Choose(0, int.MaxValue - 1).ToArbitrary(), Play));

    [Fact]
    public void What_is_dropped_is_released_once_and_takes_no_room_any_more()
    {
        const int Most = 8192;
        var pool = new TrackingArrayPool();
        var send = new SendRing(Most, pool);
        int released = 0;
        for (int round = 1; round <= 3; round++)
        {
            send.Ring.Write(new byte[10]);
            Assert.True(send.TryBorrow(new byte[4000], _ => released++, null));
            Assert.True(send.TryBorrow(new byte[Most - 4010], _ => released++, null));
            send.TakeSent(100, CallRelease.One);
            Assert.Equal(2 * (round - 1), released);
            Assert.Equal(Most - 100, send.Bytes);

            send.Drop(CallRelease.One);

            Assert.Equal((2 * round, 0L, true), (released, send.Bytes, send.IsEmpty));
            pool.AssertAllReturned();
        }
    }

    private static void Play(int seed)
    {
        var random = new Random(seed);
        var pool = new TrackingArrayPool();
        var send = new SendRing(1 << 20, pool);
        var pieces = new ReadOnlyMemory<byte>[random.Next(2, 12)];
        List<byte> expected = [];
        List<byte> left = [];
        int lent = 0;
        int released = 0;
        for (int step = 0; step < 200; step++)
        {
            byte[] bytes = new byte[random.Next(1, 700)];
            random.NextBytes(bytes);
            switch (random.Next(4))
            {
                case 0:
                    send.Ring.Write(bytes);
                    expected.AddRange(bytes);
                    break;
                case 1:
                    lent++;
                    Assert.True(send.TryBorrow(bytes, _ => released++, null));
                    expected.AddRange(bytes);
                    break;
                case 2:
                    Take(random.Next(900));
                    break;
                case 3:
                    TakeGathered();
                    break;
            }
        }

        while (!send.IsEmpty)
        {
            TakeGathered();
            Take(int.MaxValue);
        }

        Assert.Equal(expected, left);
        Assert.Equal(lent, released);
        Assert.Equal(0, send.Bytes);
        send.Ring.Dispose();
        pool.AssertAllReturned();

        void Take(int count)
        {
            while (count > 0 && !send.IsEmpty)
            {
                ReadOnlySpan<byte> next = send.NextMemory.Span;
                next = next[..Math.Min(next.Length, count)];
                left.AddRange(next);
                count -= next.Length;
                Sent(next.Length);
            }
        }

        void TakeGathered()
        {
            int count = send.Gather(pieces);
            int bytes = 0;
            foreach (ReadOnlyMemory<byte> piece in pieces.AsSpan(0, count))
            {
                Assert.False(piece.IsEmpty);
                bytes += piece.Length;
            }

            // As much as a socket may take of it.
            byte[] together = [.. pieces.Take(count).SelectMany(static piece => piece.ToArray())];
            int taken = random.Next(bytes + 1);
            left.AddRange(together.AsSpan(0, taken));
            while (taken > 0)
            {
                int next = Math.Min(taken, send.NextMemory.Length);
                taken -= next;
                Sent(next);
            }
        }

        void Sent(int count) => send.TakeSent(count, CallRelease.One);
    }

    private sealed class CallRelease : ISegmentReleaser
    {
        public static readonly CallRelease One = new();

        public void Release(SendRing.Segment segment) => segment.Release!(segment.State);
    }
}
