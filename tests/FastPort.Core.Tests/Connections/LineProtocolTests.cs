using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Transports;
using FastPort.Transports.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>A protocol that has nothing to do with frames, on the socket transport, through public types alone.</summary>
public sealed class LineProtocolTests
{
    [Fact]
    public async Task A_protocol_of_lines_runs_on_the_transport()
    {
        using var clock = new ConnectionClock();
        var settings = new ConnectionSettings { Clock = clock, Logger = NullLogger.Instance };
        ConcurrentQueue<LineProtocol> served = new();
        await using ITransportListener listener = new SocketTransport().CreateListener(Endpoint.Parse("tcp://127.0.0.1:0"), settings);
        listener.Start(connection =>
        {
            var protocol = new LineProtocol();
            served.Enqueue(protocol);
            connection.Start(protocol);
        });

        using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await client.ConnectAsync(new IPEndPoint(IPAddress.Loopback, listener.Endpoint.Port), Patience.Token);
        await using var stream = new NetworkStream(client);
        using var reader = new StreamReader(stream, Encoding.ASCII);
        await stream.WriteAsync("hello\nlong ping\nhalf a li"u8.ToArray(), Patience.Token);
        Assert.Equal("OLLEH", await reader.ReadLineAsync(Patience.Token));
        Assert.Equal("GNIP GNOL", await reader.ReadLineAsync(Patience.Token));
        await stream.WriteAsync("ne\nquit\n"u8.ToArray(), Patience.Token);
        Assert.Equal("ENIL A FLAH", await reader.ReadLineAsync(Patience.Token));
        Assert.Equal("bye", await reader.ReadLineAsync(Patience.Token));
        Assert.Null(await reader.ReadLineAsync(Patience.Token));
        client.Dispose();

        LineProtocol protocol = Assert.Single(served);
        CloseReason reason = await protocol.Closed.Task.InTimeAsync();
        Assert.Equal("quit", reason.Message);
        await listener.StopAsync();
    }

    private sealed class LineProtocol : IConnectionProtocol
    {
        private Connection _connection = null!;

        public TaskCompletionSource<CloseReason> Closed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void OnOpened(Connection connection) => _connection = connection;

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            while (TryReadLine(input, out string line))
            {
                if (line == "quit")
                {
                    Write("bye\n");
                    _connection.Close(new CloseReason(CloseKind.LocalClosed, "quit"));
                    break;
                }

                Write(string.Concat(line.ToUpperInvariant().Reverse()) + "\n");
            }

            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => _connection.Close(new CloseReason(CloseKind.PeerClosed, "end"));

        public void OnOutputDrained()
        {
        }

        public long OnTick(long nowMilliseconds) => ConnectionClock.Never;

        public void OnClosed(CloseReason reason) => Closed.SetResult(reason);

        private static bool TryReadLine(ArrayPoolCircularBuffer input, out string line)
        {
            byte[] bytes = new byte[input.Length];
            input.CopyTo(0, bytes);
            int end = Array.IndexOf(bytes, (byte)'\n');
            line = end < 0 ? string.Empty : Encoding.ASCII.GetString(bytes, 0, end);
            input.Consume(end + 1);
            return end >= 0;
        }

        private void Write(string text)
        {
            if (_connection.BeginWrite() is { } output)
            {
                output.Write(Encoding.ASCII.GetBytes(text));
                _connection.EndWrite();
            }
        }
    }
}
