using System.Text;
using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>A protocol that has nothing to do with frames, on every link, through public types alone.</summary>
public sealed class LineProtocolTests
{
    [Theory, EveryLink]
    public async Task A_protocol_of_lines_runs_on_the_transport(string link)
    {
        var protocol = new LineProtocol();
        await using TestLink open = TestLink.Open(link);
        open.ServeOther = () => protocol;
        RawEnd peer = await open.ConnectRawAloneAsync();

        await peer.SendAsync("hello\nlong ping\nhalf a li"u8.ToArray());
        Assert.Equal("OLLEH\nGNIP GNOL\n", Encoding.ASCII.GetString(await peer.ReadAsync(16)));
        await peer.SendAsync("ne\nquit\n"u8.ToArray());
        Assert.Equal("ENIL A FLAH\nbye\n", Encoding.ASCII.GetString(await peer.ReadAsync(16)));
        await peer.ExpectEndAsync();
        peer.Dispose();

        Assert.Equal("quit", (await protocol.Closed.Task.InTimeAsync()).Message);
    }

    [Theory, EveryLink]
    public async Task Lines_are_answered_wherever_they_are_split(string link)
    {
        byte[] lines = "one\ntwo lines\n\nquit"u8.ToArray();
        await using TestLink open = TestLink.Open(link);
        open.ServeOther = static () => new LineProtocol();
        for (int split = 1; split < lines.Length; split++)
        {
            RawEnd peer = await open.ConnectRawAloneAsync();
            await peer.SendAsync(lines[..split]);
            await peer.SendAsync([.. lines[split..], (byte)'\n']);

            Assert.Equal("ENO\nSENIL OWT\n\nbye\n", Encoding.ASCII.GetString(await peer.ReadAsync(19)));
            await peer.ExpectEndAsync();
        }
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
