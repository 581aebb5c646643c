using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>Connections served through System.IO.Pipelines, over real sockets.</summary>
public sealed class PipeProtocolTests
{
    [Fact]
    public async Task Echoes_whatever_way_the_bytes_are_split()
    {
        await using var server = new PipeServer(EchoAsync);
        byte[] bytes = Wire.Bytes(40);
        using Socket peer = await server.ConnectAsync();
        for (int split = 1; split < bytes.Length; split++)
        {
            await PipeServer.SendAllAsync(peer, bytes.AsMemory(0, split));
            Assert.Equal(bytes[..split], await ReadAsync(peer, split));
            await PipeServer.SendAllAsync(peer, bytes.AsMemory(split));
            Assert.Equal(bytes[split..], await ReadAsync(peer, bytes.Length - split));
        }
    }

    [Theory]
    [InlineData(PipeProtocol.MinimumBytes, 4 * 1024 * 1024)]
    [InlineData(PipeProtocol.DefaultBytes, 4 * 1024 * 1024)]
    [InlineData(PipeProtocol.DefaultBytes, 5000)]
    public async Task Echoes_a_long_stream_both_ways_at_once_to_its_last_byte(int bound, int maxSendBytes)
    {
        await using var server = new PipeServer(EchoAsync, bound, maxSendBytes);
        using Socket peer = await server.ConnectAsync();
        byte[] bytes = Wire.Bytes(8 * 1024 * 1024);

        Task<byte[]> reading = PipeServer.ReadToEndAsync(peer);
        await PipeServer.SendAllAsync(peer, bytes);
        peer.Shutdown(SocketShutdown.Send);

        byte[] echoed = await reading;
        Assert.True(bytes.AsSpan().SequenceEqual(echoed));
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.Lines);
    }

    [Fact]
    public async Task A_handler_that_does_not_read_holds_its_peer_back_and_then_gets_everything()
    {
        const int Bound = 8 * 1024;
        const int ReceiveRing = (1024 * 1024) + 4096;
        const int Kernel = 16 * 1024 * 1024;
        var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var got = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        long unread = 0;
        await using var server = new PipeServer(
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
        using Socket peer = await server.ConnectAsync();
        byte[] bytes = Wire.Bytes(4 * Kernel);

        Task sending = PipeServer.SendAllAsync(peer, bytes);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.BytesReceived > Bound, "the bound was reached");
        Assert.False(sending.IsCompleted);
        Assert.InRange(connection.BytesReceived, Bound, ReceiveRing + (2 * Bound));
        go.SetResult();
        await sending;
        peer.Shutdown(SocketShutdown.Send);

        byte[] received = await got.Task.InTimeAsync();
        Assert.True(bytes.AsSpan().SequenceEqual(received));
        Assert.InRange(unread, 1, 2 * Bound);
    }

    [Fact]
    public async Task A_peer_that_does_not_read_holds_the_flushes_back_and_then_gets_everything()
    {
        const int Bound = 16 * 1024;
        const int Pieces = 4096;
        byte[] piece = Wire.Bytes(8 * 1024);
        long pending = 0;
        int flushed = 0;
        await using var server = new PipeServer(
            async (pipe, connection) =>
            {
                for (; flushed < Pieces; flushed++)
                {
                    await pipe.Output.WriteAsync(piece);
                    pending = Math.Max(pending, connection.PendingBytes);
                }
            },
            Bound);
        using Socket peer = await server.ConnectAsync(receiveBuffer: 4096);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.IsSendBlocked && connection.PendingBytes > Bound, "the peer's buffers were full");
        Assert.False(connection.Closed.IsCompleted);
        Assert.True(Volatile.Read(ref flushed) < Pieces);

        byte[] all = await PipeServer.ReadToEndAsync(peer);

        Assert.Equal(Pieces * piece.Length, all.Length);
        for (int i = 0; i < Pieces; i++)
        {
            Assert.True(piece.AsSpan().SequenceEqual(all.AsSpan(i * piece.Length, piece.Length)));
        }

        Assert.InRange(pending, 1, 2 * Bound);
        peer.Dispose();
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_peer_that_has_ended_its_side_still_gets_the_answer()
    {
        await using var server = new PipeServer(async (pipe, _) =>
        {
            ReadResult read = await pipe.Input.ReadAtLeastAsync(int.MaxValue);
            Assert.True(read.IsCompleted);
            byte[] answer = [.. read.Buffer.ToArray().Reverse()];
            pipe.Input.AdvanceTo(read.Buffer.End);
            await pipe.Output.WriteAsync(answer);
            await pipe.Output.CompleteAsync();
        });
        using Socket peer = await server.ConnectAsync();

        await PipeServer.SendAllAsync(peer, new byte[] { 1, 2, 3 });
        peer.Shutdown(SocketShutdown.Send);

        Assert.Equal([3, 2, 1], await PipeServer.ReadToEndAsync(peer));
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.Lines);
    }

    [Fact]
    public async Task Completing_the_writer_closes_in_order_while_the_handler_still_reads()
    {
        var ended = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(async (pipe, _) =>
        {
            pipe.Output.Write(new byte[] { 7, 8 });
            await pipe.Output.CompleteAsync();
            ReadResult read = await pipe.Input.ReadAsync();
            ended.SetResult(read is { IsCompleted: true, Buffer.IsEmpty: true });
        });
        using Socket peer = await server.ConnectAsync();

        Assert.Equal([7, 8], await PipeServer.ReadToEndAsync(peer));
        peer.Dispose();

        Assert.True(await ended.Task.InTimeAsync());
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.WithId(1050));
    }

    [Fact]
    public async Task A_lost_connection_ends_both_sides()
    {
        var outcome = new TaskCompletionSource<(Exception?, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(async (pipe, _) =>
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
            throw thrown!;
        });
        using Socket peer = await server.ConnectAsync();
        await PipeServer.SendAllAsync(peer, new byte[] { 1, 2, 3 });
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.BytesReceived == 3, "the bytes were received");

        peer.LingerState = new LingerOption(enable: true, seconds: 0);
        peer.Dispose();

        (Exception? thrown, bool completed) = await outcome.Task.InTimeAsync();
        Assert.IsType<IOException>(thrown);
        Assert.True(completed);
        Assert.Equal(CloseKind.ConnectionLost, (await server.CloseReasonAsync()).Kind);
        await Patience.UntilAsync(() => server.Log.WithId(1051).Count == 1, "the handler's exception was logged");
        Assert.Empty(server.Log.WithId(1050));
    }

    [Fact]
    public async Task A_flush_that_waits_for_the_peer_ends_with_the_connection()
    {
        var completed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(
            async (pipe, _) =>
            {
                byte[] piece = new byte[8 * 1024];
                while (!(await pipe.Output.WriteAsync(piece)).IsCompleted)
                {
                }

                completed.SetResult();
            },
            PipeProtocol.MinimumBytes);
        using Socket peer = await server.ConnectAsync(receiveBuffer: 4096);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.IsSendBlocked, "the peer's buffers were full");

        connection.Abort(new CloseReason(CloseKind.Stopping, "enough"));

        await completed.Task.InTimeAsync();
        Assert.Equal("enough", (await server.CloseReasonAsync()).Message);
    }

    [Fact]
    public async Task A_handler_that_throws_closes_its_connection_with_a_log_line_after_what_it_flushed()
    {
        await using var server = new PipeServer(async (pipe, _) =>
        {
            await pipe.Output.WriteAsync(new byte[] { 1, 2 });
            throw new InvalidOperationException("A defect in a handler.");
        });
        using Socket peer = await server.ConnectAsync();

        Assert.Equal([1, 2], await PipeServer.ReadToEndAsync(peer));
        peer.Dispose();

        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal(CloseKind.Internal, reason.Kind);
        Assert.Equal("A defect in a handler.", Assert.Single(server.Log.WithId(1050)).Exception!.Message);
        Assert.Same(reason.Exception, server.Log.WithId(1050)[0].Exception);
    }

    [Fact]
    public async Task A_handler_that_throws_before_its_first_await_closes_its_connection_too()
    {
        await using var server = new PipeServer(static (_, _) => throw new InvalidOperationException("A defect in a handler."));
        using Socket peer = await server.ConnectAsync();

        Assert.Empty(await PipeServer.ReadToEndAsync(peer));
        peer.Dispose();

        Assert.Equal(CloseKind.Internal, (await server.CloseReasonAsync()).Kind);
        Assert.Single(server.Log.WithId(1050));
    }

    [Fact]
    public async Task A_writer_completed_with_an_exception_is_a_handler_that_failed()
    {
        await using var server = new PipeServer(static async (pipe, connection) =>
        {
            await pipe.Output.CompleteAsync(new InvalidOperationException("A defect in a handler."));
            await connection.Closed;
        });
        using Socket peer = await server.ConnectAsync();

        Assert.Empty(await PipeServer.ReadToEndAsync(peer));
        peer.Dispose();

        Assert.Equal(CloseKind.Internal, (await server.CloseReasonAsync()).Kind);
        Assert.Single(server.Log.WithId(1050));
    }

    [Fact]
    public async Task A_handler_that_ends_at_once_closes_the_connection()
    {
        await using var server = new PipeServer(static (_, _) => Task.CompletedTask);
        using Socket peer = await server.ConnectAsync();

        Assert.Empty(await PipeServer.ReadToEndAsync(peer));
        peer.Dispose();

        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
        Assert.Empty(server.Log.Lines);
    }

    [Fact]
    public async Task What_comes_after_the_reader_was_completed_is_dropped_and_the_peer_is_not_held_back()
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new PipeServer(
            async (pipe, _) =>
            {
                await pipe.Input.CompleteAsync();
                await ended.Task;
                await pipe.Output.WriteAsync(new byte[] { 9 });
            },
            PipeProtocol.MinimumBytes);
        using Socket peer = await server.ConnectAsync();
        byte[] bytes = new byte[32 * 1024 * 1024];

        await PipeServer.SendAllAsync(peer, bytes);
        Connection connection = await server.ConnectionAsync();
        await Patience.UntilAsync(() => connection.BytesReceived == bytes.Length, "all was received");
        ended.SetResult();

        Assert.Equal([9], await PipeServer.ReadToEndAsync(peer));
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

    private static async Task<byte[]> ReadAsync(Socket socket, int count)
    {
        byte[] bytes = new byte[count];
        for (int read = 0; read < count;)
        {
            int more = await socket.ReceiveAsync(bytes.AsMemory(read), SocketFlags.None, Patience.Token);
            Assert.NotEqual(0, more);
            read += more;
        }

        return bytes;
    }
}
