using System.Collections.Concurrent;
using System.Net.Sockets;
using FastPort.Connections;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What docs/custom-protocols.md says of its line protocol.</summary>
public sealed class LineProtocolTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_peer_that_stops_reading_is_read_no_further_and_closed_by_the_write_timeout()
    {
        const int Line = 8 * 1024;
        byte[] line = [.. new string('x', Line - 1).Select(static c => (byte)c), (byte)'\n'];
        var opened = new TaskCompletionSource<Connection>(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"], WriteTimeout = TimeSpan.FromSeconds(1) };
        await using var server = new ConnectionServer(options, connection =>
        {
            opened.SetResult(connection);
            return new LineProtocol(connection, static (lines, text) => lines.Send(text));
        });
        await server.StartAsync();
        using var peer = new TcpClient();
        await peer.ConnectAsync("127.0.0.1", server.Endpoints[0].Port);
        Connection connection = await opened.Task.WaitAsync(Soon);

        // Writes until nobody takes any more, and reads nothing.
        long written = 0;
        long mostPending = 0;
        Task writing = Task.Run(async () =>
        {
            while (true)
            {
                await peer.GetStream().WriteAsync(line);
                written += line.Length;
                mostPending = Math.Max(mostPending, connection.PendingBytes);
            }
        });

        CloseReason reason = await connection.Closed.WaitAsync(Soon);
        await Assert.ThrowsAnyAsync<IOException>(() => writing.WaitAsync(Soon));
        Assert.Equal(CloseKind.WriteTimeout, reason.Kind);
        Assert.True(mostPending <= (64 * 1024) + Line, $"{mostPending} bytes waited.");
        Assert.True(connection.BytesReceived <= written + Line);
    }

    [Fact]
    public async Task A_write_that_does_not_fit_ends_and_other_threads_can_write()
    {
        var opened = new TaskCompletionSource<LineProtocol>(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"], MaxSendBytes = 64 * 1024 };
        await using var server = new ConnectionServer(options, connection =>
        {
            var lines = new LineProtocol(connection, static (_, _) => { });
            opened.SetResult(lines);
            return lines;
        });
        await server.StartAsync();
        using var peer = new TcpClient();
        await peer.ConnectAsync("127.0.0.1", server.Endpoints[0].Port);
        LineProtocol lines = await opened.Task.WaitAsync(Soon);
        string tooLong = new('x', 128 * 1024);

        Assert.Throws<RingCapacityExceededException>(() => lines.Send(tooLong));

        Assert.True(await Task.Factory.StartNew(() => lines.Send("short"), TaskCreationOptions.LongRunning).WaitAsync(Soon));
    }

    // One byte more than it may have; with its end in the same burst, too.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_line_that_is_too_long_is_a_protocol_error(bool isEnded)
    {
        byte[] line = [.. new byte[(64 * 1024) + 1], .. isEnded ? "\n"u8 : []];
        var lines = new ConcurrentQueue<string>();
        var opened = new TaskCompletionSource<Connection>(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"] };
        await using var server = new ConnectionServer(options, connection =>
        {
            opened.SetResult(connection);
            return new LineProtocol(connection, (_, text) => lines.Enqueue(text));
        });
        await server.StartAsync();
        using var peer = new TcpClient();
        await peer.ConnectAsync("127.0.0.1", server.Endpoints[0].Port);

        await peer.GetStream().WriteAsync(line);

        Assert.Equal(CloseKind.ProtocolError, (await (await opened.Task.WaitAsync(Soon)).Closed.WaitAsync(Soon)).Kind);
        Assert.Empty(lines);
    }
}
