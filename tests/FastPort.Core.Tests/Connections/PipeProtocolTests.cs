using System.Buffers;
using System.IO.Pipelines;
using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>Connections served through System.IO.Pipelines, over every link.</summary>
public sealed class PipeProtocolTests
{
    [Theory, EveryLink]
    public async Task Echoes_whatever_way_the_bytes_are_split(string link)
    {
        await using var server = new PipeServer(link, EchoAsync);
        byte[] bytes = Wire.Bytes(40);
        RawEnd peer = await server.ConnectAsync();
        for (int split = 1; split < bytes.Length; split++)
        {
            await peer.SendAsync(bytes[..split]);
            Assert.Equal(bytes[..split], await peer.ReadAsync(split));
            await peer.SendAsync(bytes[split..]);
            Assert.Equal(bytes[split..], await peer.ReadAsync(bytes.Length - split));
        }
    }

    [Theory, EveryLink]
    public Task Echoes_a_long_stream_both_ways_at_once_to_its_last_byte(string link) =>
        EchoesALongStreamAsync(link, PipeProtocol.DefaultBytes, 4 * 1024 * 1024);

    [Theory, EveryLink]
    public Task Echoes_a_long_stream_within_the_smallest_bounds(string link) =>
        EchoesALongStreamAsync(link, PipeProtocol.MinimumBytes, 4 * 1024 * 1024);

    [Theory, EveryLink]
    public Task Echoes_a_long_stream_through_a_send_ring_below_the_bound(string link) =>
        EchoesALongStreamAsync(link, PipeProtocol.DefaultBytes, 5000);

    [Theory, EveryLink]
    public async Task A_handler_that_does_not_read_holds_its_peer_back_and_then_gets_everything(string link)
    {
        const int Bound = 8 * 1024;
        const int ReceiveRing = (1024 * 1024) + 4096;
        const int Kernel = 16 * 1024 * 1024;
        var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var got = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        long unread = 0;
        await using var server = new PipeServer(
            link,
            async (pipe, _) =>
            {
                await go.Task;
                using var all = new MemoryStream();
                ReadResult read;
                do
                {
                    read = await pipe.Input.ReadAsync();
                    unread = Math.Max(unread, read.Buffer.Length);
                    foreach (ReadOnlyMemory<byte> segment in read.Buffer)
                    {
                        all.Write(segment.Span);
                    }

                    pipe.Input.AdvanceTo(read.Buffer.End);
                }
                while (!read.IsCompleted);
                got.SetResult(all.ToArray());
            },
            Bound);
        RawEnd peer = await server.ConnectAsync();
        byte[] bytes = Wire.Bytes(4 * Kernel);

        Task sending = PipeServer.SendAllAsync(peer, bytes);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.BytesReceived > Bound, "the bound was reached");
        Assert.False(sending.IsCompleted);

        // Within a process the peer's own send ring is what is read from.
        int sendRing = peer.ReadsAfterShutdown ? 0 : 4 * 1024 * 1024;
        Assert.InRange(connection.BytesReceived, Bound, ReceiveRing + (2 * Bound) + sendRing);
        go.SetResult();
        await sending;
        peer.ShutdownSend();

        byte[] received = await got.Task.InTimeAsync();
        Assert.True(bytes.AsSpan().SequenceEqual(received));
        Assert.InRange(unread, 1, 2 * Bound);
    }

    [Theory, EveryLink]
    public async Task A_peer_that_does_not_read_holds_the_flushes_back_and_then_gets_everything(string link)
    {
        const int Bound = 16 * 1024;
        const int Pieces = 4096;
        byte[] piece = Wire.Bytes(8 * 1024);
        long pending = 0;
        int flushed = 0;
        await using var server = new PipeServer(
            link,
            async (pipe, connection) =>
            {
                for (; flushed < Pieces; flushed++)
                {
                    await pipe.Output.WriteAsync(piece);
                    pending = Math.Max(pending, connection.PendingBytes);
                }
            },
            Bound);
        RawEnd peer = await server.ConnectAsync(takesLittle: true);
        Connection connection = await server.ConnectionAsync();

        // Beyond the bound until the wait for half of it begins; the system may take some more afterwards.
        await Patience.UntilAsync(() => connection.IsSendBlocked && connection.PendingBytes > Bound / 2, "the peer's buffers were full");
        Assert.False(connection.Closed.IsCompleted);
        Assert.True(Volatile.Read(ref flushed) < Pieces);

        byte[] all = await PipeServer.ReadToEndAsync(peer, Pieces * piece.Length);

        for (int i = 0; i < Pieces; i++)
        {
            Assert.True(piece.AsSpan().SequenceEqual(all.AsSpan(i * piece.Length, piece.Length)));
        }

        Assert.InRange(pending, 1, 2 * Bound);
        peer.Dispose();
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Theory, EveryLink]
    public async Task A_peer_that_has_ended_its_side_still_gets_the_answer(string link)
    {
        await using var server = new PipeServer(link, async (pipe, _) =>
        {
            ReadResult read = await pipe.Input.ReadAtLeastAsync(int.MaxValue);
            Assert.True(read.IsCompleted);
            byte[] answer = [.. read.Buffer.ToArray().Reverse()];
            pipe.Input.AdvanceTo(read.Buffer.End);
            await pipe.Output.WriteAsync(answer);
            await pipe.Output.CompleteAsync();
        });
        RawEnd peer = await server.ConnectAsync();

        await peer.SendAsync([1, 2, 3]);
        peer.ShutdownSend();

        if (peer.ReadsAfterShutdown)
        {
            Assert.Equal([3, 2, 1], await PipeServer.ReadToEndAsync(peer, 3));
        }

        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.Lines);
    }

    [Theory, EveryLink]
    public async Task Completing_the_writer_closes_in_order_while_the_handler_still_reads(string link)
    {
        var ended = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(link, async (pipe, _) =>
        {
            pipe.Output.Write(new byte[] { 7, 8 });
            await pipe.Output.CompleteAsync();
            ReadResult read = await pipe.Input.ReadAsync();
            ended.SetResult(read is { IsCompleted: true, Buffer.IsEmpty: true });
        });
        RawEnd peer = await server.ConnectAsync();

        Assert.Equal([7, 8], await PipeServer.ReadToEndAsync(peer, 2));
        peer.Dispose();

        Assert.True(await ended.Task.InTimeAsync());
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.WithId(1050));
    }

    [Theory, EveryLink]
    public async Task A_lost_connection_ends_both_sides(string link)
    {
        var outcome = new TaskCompletionSource<(Exception?, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(link, async (pipe, _) =>
        {
            Exception? thrown = null;
            try
            {
                await EatAsync(pipe.Input);
            }
            catch (IOException e)
            {
                thrown = e;
            }

            FlushResult flush = await pipe.Output.WriteAsync(new byte[100]);
            while (!flush.IsCompleted)
            {
                flush = await pipe.Output.WriteAsync(new byte[100]);
            }

            outcome.SetResult((thrown, flush.IsCompleted));
            if (thrown is not null)
            {
                throw thrown;
            }
        });
        RawEnd peer = await server.ConnectAsync();
        await peer.SendAsync([1, 2, 3]);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.BytesReceived == 3, "the bytes were received");

        peer.Reset();

        (Exception? thrown, bool completed) = await outcome.Task.InTimeAsync();
        Assert.True(completed);
        if (!server.Kind.TellsResets)
        {
            Assert.Null(thrown);
            return;
        }

        Assert.IsType<IOException>(thrown);
        Assert.Equal(CloseKind.ConnectionLost, (await server.CloseReasonAsync()).Kind);
        await Patience.UntilAsync(() => server.Log.WithId(1051).Count == 1, "the handler's exception was logged");
        Assert.Empty(server.Log.WithId(1050));
    }

    [Theory, EveryLink]
    public async Task A_flush_that_waits_for_the_peer_ends_with_the_connection(string link)
    {
        var completed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(
            link,
            async (pipe, _) =>
            {
                byte[] piece = new byte[8 * 1024];
                while (!(await pipe.Output.WriteAsync(piece)).IsCompleted)
                {
                }

                completed.SetResult();
            },
            PipeProtocol.MinimumBytes);
        RawEnd peer = await server.ConnectAsync(takesLittle: true);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.IsSendBlocked, "the peer's buffers were full");

        connection.Abort(new CloseReason(CloseKind.Stopping, "enough"));

        await completed.Task.InTimeAsync();
        Assert.Equal("enough", (await server.CloseReasonAsync()).Message);
    }

    [Theory, EveryLink]
    public async Task A_handler_that_throws_closes_its_connection_with_a_log_line_after_what_it_flushed(string link)
    {
        await using var server = new PipeServer(link, async (pipe, _) =>
        {
            await pipe.Output.WriteAsync(new byte[] { 1, 2 });
            throw new InvalidOperationException("A defect in a handler.");
        });
        RawEnd peer = await server.ConnectAsync();

        Assert.Equal([1, 2], await PipeServer.ReadToEndAsync(peer, 2));
        peer.Dispose();

        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal(CloseKind.Internal, reason.Kind);
        Assert.Equal("A defect in a handler.", Assert.Single(server.Log.WithId(1050)).Exception!.Message);
        Assert.Same(reason.Exception, server.Log.WithId(1050)[0].Exception);
    }

    [Theory, EveryLink]
    public async Task A_handler_that_throws_before_its_first_await_closes_its_connection_too(string link)
    {
        await using var server = new PipeServer(link, static (_, _) => throw new InvalidOperationException("A defect in a handler."));
        RawEnd peer = await server.ConnectAsync();

        await peer.ExpectEndAsync();
        peer.Dispose();

        Assert.Equal(CloseKind.Internal, (await server.CloseReasonAsync()).Kind);
        Assert.Single(server.Log.WithId(1050));
    }

    [Theory, EveryLink]
    public async Task A_writer_completed_with_an_exception_is_a_handler_that_failed(string link)
    {
        await using var server = new PipeServer(link, static async (pipe, connection) =>
        {
            await pipe.Output.CompleteAsync(new InvalidOperationException("A defect in a handler."));
            await connection.Closed;
        });
        RawEnd peer = await server.ConnectAsync();

        await peer.ExpectEndAsync();
        peer.Dispose();

        Assert.Equal(CloseKind.Internal, (await server.CloseReasonAsync()).Kind);
        Assert.Single(server.Log.WithId(1050));
    }

    [Theory, EveryLink]
    public async Task A_handler_that_ends_at_once_closes_the_connection(string link)
    {
        await using var server = new PipeServer(link, static (_, _) => Task.CompletedTask);
        RawEnd peer = await server.ConnectAsync();

        await peer.ExpectEndAsync();
        peer.Dispose();

        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.Lines);
    }

    [Theory, EveryLink]
    public async Task What_comes_after_the_reader_was_completed_is_dropped_and_the_peer_is_not_held_back(string link)
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(
            link,
            async (pipe, _) =>
            {
                await pipe.Input.CompleteAsync();
                await ended.Task;
                await pipe.Output.WriteAsync(new byte[] { 9 });
            },
            PipeProtocol.MinimumBytes);
        RawEnd peer = await server.ConnectAsync();
        byte[] bytes = new byte[32 * 1024 * 1024];

        await PipeServer.SendAllAsync(peer, bytes);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.BytesReceived == bytes.Length, "all was received");
        ended.SetResult();

        Assert.Equal([9], await PipeServer.ReadToEndAsync(peer, 1));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(PipeProtocol.MinimumBytes - 1)]
    [InlineData((1 << 30) + 1)]
    public void Refuses_bounds_out_of_their_range(int bound)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new PipeProtocol(EchoAsync, NullLogger.Instance, inputBytes: bound));
        Assert.Throws<ArgumentOutOfRangeException>(() => new PipeProtocol(EchoAsync, NullLogger.Instance, outputBytes: bound));
    }

    private static async Task EchoesALongStreamAsync(string link, int bound, int maxSendBytes)
    {
        await using var server = new PipeServer(link, EchoAsync, bound, maxSendBytes);
        RawEnd peer = await server.ConnectAsync();
        byte[] bytes = Wire.Bytes(8 * 1024 * 1024);

        Task<byte[]> reading = PipeServer.ReadAsync(peer, bytes.Length);
        await PipeServer.SendAllAsync(peer, bytes);
        if (peer.ReadsAfterShutdown)
        {
            peer.ShutdownSend();
        }

        byte[] echoed = await reading.InTimeAsync();
        Assert.True(bytes.AsSpan().SequenceEqual(echoed));
        if (peer.ReadsAfterShutdown)
        {
            await peer.ExpectEndAsync();
        }

        peer.ShutdownSend();
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.Lines);
    }

    private static async Task EchoAsync(IDuplexPipe pipe, Connection connection)
    {
        ReadResult read;
        do
        {
            read = await pipe.Input.ReadAsync();
            foreach (ReadOnlyMemory<byte> segment in read.Buffer)
            {
                await pipe.Output.WriteAsync(segment);
            }

            pipe.Input.AdvanceTo(read.Buffer.End);
        }
        while (!read.IsCompleted);
    }

    private static async Task EatAsync(PipeReader reader)
    {
        ReadResult read;
        do
        {
            read = await reader.ReadAsync();
            reader.AdvanceTo(read.Buffer.End);
        }
        while (!read.IsCompleted);
    }
}
