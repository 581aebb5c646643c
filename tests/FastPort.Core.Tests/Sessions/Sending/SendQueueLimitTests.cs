using System.Net;
using FastPort.Connections;
using FastPort.Sessions.Sending;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>A sender that outruns the thread that is just sending, as happens where that thread gets no processor.</summary>
public sealed class SendQueueLimitTests
{
    [Theory]
    [InlineData(SendQueueFullPolicy.Wait)]
    [InlineData(SendQueueFullPolicy.DropOneWay)]
    [InlineData(SendQueueFullPolicy.Disconnect)]
    public void There_is_room_above_the_bound_until_the_peer_is_found_wanting(SendQueueFullPolicy policy)
    {
        var options = new SessionOptions { SendQueueFull = policy };
        var connection = new SendingConnection { Pending = options.SendQueueBytes };
        var room = new SendQueueLimit(connection, options);

        Assert.True(room.IsFull);
        Assert.True(room.TryMake());
        connection.Blocked = true;
        Assert.False(room.TryMake());
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait, 1024)]
    [InlineData(SendQueueFullPolicy.DropOneWay, 1024)]
    [InlineData(SendQueueFullPolicy.DropOneWay, 1024 * 1024)]
    [InlineData(SendQueueFullPolicy.Disconnect, 1024 * 1024)]
    public void The_policy_comes_before_the_end_of_the_reserve(SendQueueFullPolicy policy, int maxFrame)
    {
        var options = new SessionOptions { SendQueueFull = policy, MaxFrameBytes = maxFrame };
        using var clock = new ConnectionClock(TimeProvider.System);
        int reserve = options.ToConnectionSettings(clock, NullLogger.Instance).MaxSendBytes;
        var connection = new SendingConnection();
        var room = new SendQueueLimit(connection, options);

        // What is let in last, a whole batch, still fits.
        connection.Pending = reserve - FrameOutput.BatchChunk;

        Assert.False(room.TryMake());
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait)]
    [InlineData(SendQueueFullPolicy.DropOneWay)]
    public void While_somebody_waits_the_others_get_half_of_what_becomes_free(SendQueueFullPolicy policy)
    {
        var options = new SessionOptions { SendQueueFull = policy };
        int bound = options.SendQueueBytes;
        var connection = new SendingConnection { Blocked = true };
        var room = new SendQueueLimit(connection, options);
        Assert.False(IsFullAt(bound - 1, sent: bound));
        Assert.True(IsFullAt(bound, sent: bound));

        room.NotifyWhenDrained();
        Assert.False(IsFullAt(bound - 1, sent: 0));
        Assert.False(IsFullAt((bound * 3 / 4) - 1, sent: bound / 2));
        Assert.True(IsFullAt(bound * 3 / 4, sent: bound / 2));
        Assert.True(IsFullAt((bound / 2) + 1, sent: bound));
        Assert.True(IsFullAt((bound / 2) + 1, sent: 10L * bound));
        Assert.False(IsFullAt(bound / 2, sent: 10L * bound));

        // Neither does a thread that is just sending make room for them.
        connection.Blocked = false;
        connection.Pending = bound * 3 / 4;
        connection.SentMeanwhile = bound;
        Assert.False(room.TryMake());

        connection.AwaitedMark = -1;
        Assert.False(room.IsFull);

        // The next one to wait counts again.
        connection.Pending = bound;
        _ = room.WhenDrainedAsync();
        Assert.True(IsFullAt(bound * 3 / 4, sent: bound / 2));

        bool IsFullAt(long pending, long sent)
        {
            (connection.Pending, connection.SentMeanwhile) = (pending, sent);
            return room.IsFull;
        }
    }

    /// <summary>Has bytes that another thread is sending: the peer has refused none of them yet.</summary>
    private sealed class SendingConnection : Connection
    {
        public long Pending { get; set; }

        public bool Blocked { get; set; }

        public long SentMeanwhile { get; set; }

        public override EndPoint? RemoteEndPoint => null;

        public override EndPoint? LocalEndPoint => null;

        public override long BytesReceived => 0;

        public override long BytesSent => SentMeanwhile;

        public override long PendingBytes => Pending;

        public override bool IsSendBlocked => Blocked;

        public override bool IsClosing => false;

        public override bool IsOnLoop => false;

        public override bool Post(Action<object?> callback, object? state) => false;

        public override void PostAfter(TimeSpan delay, Action<object?> callback, object? state)
        {
        }

        public override ArrayPoolCircularBuffer? BeginWrite() => null;

        public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) => false;

        public override void EndWrite()
        {
        }

        public override void Flush()
        {
        }

        public override void NotifyWhenDrained(long pendingBytes) => AwaitedMark = pendingBytes;

        public override ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default)
        {
            AwaitedMark = lowWater;
            return new(new TaskCompletionSource<bool>().Task);
        }

        public override void ResumeReading()
        {
        }

        public override void Close(CloseReason reason)
        {
        }

        public override void Abort(CloseReason reason)
        {
        }

        protected override void StartCore()
        {
        }
    }
}
