using System.Buffers;
using System.Text;
using FastPort;
using FastPort.Connections;

/// <summary>Lines of text, each ended by a line feed; the same class on both sides. One instance serves one connection.</summary>
internal sealed class LineProtocol(Connection connection, Action<LineProtocol, string> onLine, Action? onClosed = null)
    : IConnectionProtocol
{
    private const int MaxBytes = 64 * 1024;

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        while (connection.PendingBytes < MaxBytes)
        {
            ReadOnlySequence<byte> unread = input.GetReadableSequence(0, input.Length);
            SequencePosition? end = unread.PositionOf((byte)'\n');
            ReadOnlySequence<byte> line = unread.Slice(0, end ?? unread.End);
            if (line.Length > MaxBytes)
            {
                connection.Close(new CloseReason(CloseKind.ProtocolError, $"A line has more than {MaxBytes} bytes."));
            }

            if (end is null || connection.IsClosing)
            {
                return ReceiveOutcome.Continue;
            }

            string text = Encoding.UTF8.GetString(line);
            input.Consume((int)line.Length + 1);
            onLine(this, text);
        }

        connection.NotifyWhenDrained(MaxBytes / 2);
        return ReceiveOutcome.Pause;
    }

    public void OnOutputDrained() => connection.ResumeReading();

    public void OnInputEnded(bool truncated) => connection.Close(truncated ? CloseReason.PeerTruncated : CloseReason.PeerClosed);

    public void OnClosed(CloseReason reason)
    {
        Console.Error.WriteLine(reason);
        onClosed?.Invoke();
    }

    /// <returns>False where the connection closes: nothing can be sent any more.</returns>
    public bool Send(string line)
    {
        if (connection.BeginWrite() is not { } output)
        {
            return false;
        }

        try
        {
            output.Write(Encoding.UTF8.GetBytes(line + "\n"));
        }
        finally
        {
            connection.EndWrite();
        }

        connection.Flush();
        return true;
    }
}
