using System.Buffers;
using System.Text;
using FastPort;
using FastPort.Connections;

namespace Company.My_Protocol;

/// <summary>Lines of text, on both sides of a connection. Its loop calls <c>onLine</c>, with null at the end.</summary>
public sealed class LineProtocol(Connection connection, Action<LineProtocol, string?> onLine) : IConnectionProtocol
{
    private const int MaxPendingBytes = 64 * 1024;

    /// <summary>The server's side: answers each line in capitals.</summary>
    public static LineProtocol Answer(Connection connection) => new(connection, (lines, line) => lines.Send(line?.ToUpperInvariant()));

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        while (connection.PendingBytes < MaxPendingBytes)
        {
            ReadOnlySequence<byte> unread = input.GetReadableSequence(0, input.Length);
            if (unread.PositionOf((byte)'\n') is not { } end)
            {
                // A line longer than ConnectionServer:MaxReceiveBytes ends its connection.
                return ReceiveOutcome.Continue;
            }

            ReadOnlySequence<byte> line = unread.Slice(0, end);
            string text = Encoding.UTF8.GetString(line);
            input.Consume((int)line.Length + 1);
            onLine(this, text);
        }

        // A peer that does not take its answers is read again when half of them are sent.
        connection.NotifyWhenDrained(MaxPendingBytes / 2);
        return ReceiveOutcome.Pause;
    }

    public void OnOutputDrained() => connection.ResumeReading();

    public void OnInputEnded(bool truncated) => connection.Close(truncated ? CloseReason.PeerTruncated : CloseReason.PeerClosed);

    public void OnClosed(CloseReason reason) => onLine(this, null);

    /// <summary>Sends a line. False when there is none, or the connection closes.</summary>
    public bool Send(string? line)
    {
        if (line is null || connection.BeginWrite() is not { } output)
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
