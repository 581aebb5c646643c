using System.Buffers;
using System.Text;
using FastPort.Buffers;
using FastPort.Connections;

/// <summary>Lines of text, each ended by a line feed; the same class on both sides. One instance serves one connection.</summary>
internal sealed class LineProtocol(Connection connection, Action<LineProtocol, string> onLine) : IConnectionProtocol
{
    private const int MaxBytes = 64 * 1024;

    public void OnOpened(Connection connection)
    {
    }

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        while (connection.PendingBytes < MaxBytes)
        {
            ReadOnlySequence<byte> unread = input.GetReadableSequence(0, input.Length);
            if (unread.PositionOf((byte)'\n') is not { } end)
            {
                if (unread.Length > MaxBytes)
                {
                    connection.Close(new CloseReason(CloseKind.ProtocolError, $"A line has more than {MaxBytes} bytes."));
                }

                return ReceiveOutcome.Continue;
            }

            string line = Encoding.UTF8.GetString(unread.Slice(0, end));
            input.Consume((int)unread.Slice(0, end).Length + 1);
            onLine(this, line);
        }

        connection.NotifyWhenDrained(MaxBytes / 2);
        return ReceiveOutcome.Pause;
    }

    public void OnOutputDrained() => connection.ResumeReading();

    public void OnInputEnded(bool truncated) => connection.Close(truncated ? CloseReason.PeerTruncated : CloseReason.PeerClosed);

    public long OnTick(long nowMilliseconds) => ConnectionClock.Never;

    public void OnClosed(CloseReason reason) => Console.Error.WriteLine(reason);

    public void Send(string line)
    {
        if (connection.BeginWrite() is { } output)
        {
            output.Write(Encoding.UTF8.GetBytes(line + "\n"));
            connection.EndWrite();
            connection.Flush();
        }
    }
}
