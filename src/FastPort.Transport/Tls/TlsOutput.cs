using System.Net.Security;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Tls;

/// <summary>
/// The send side of an encrypted connection. The flusher encrypts ring after ring and writes the records to the connection below. Several
/// small messages that were written since the last flush share a record.
/// <para>
/// While the connection below holds much that the peer has not taken, the flusher stops, and continues when that has been sent: waiting
/// bytes are not encrypted yet then, and become large records.
/// </para>
/// </summary>
internal sealed class TlsOutput(
    TlsConnection connection, Connection below, SslStream stream, RecordStream records, ConnectionSettings settings)
    : FlusherOutput(connection, settings)
{
    // The connection below holds at most this many bytes and one record.
    private const int MostBelow = 256 * 1024;

    // Bytes that a record holds at most (RFC 8446, 5.1).
    private const int LongestRecord = 16 * 1024;

    // The flusher resumes when the connection below holds no more than this.
    private const int GoOnBelow = MostBelow / 2;

    private readonly SentRecords _sent = new();
    private volatile bool _stalled;

    /// <summary>Written bytes that are not encrypted yet.</summary>
    public long NotEncrypted => Written - _sent.Encrypted;

    /// <summary>Written bytes that the operating system has not taken yet.</summary>
    public override long PendingBytes
    {
        get
        {
            // First the written bytes: bytes sent in between must not count as pending.
            long written = Written;
            return Math.Max(0, written - BytesSent);
        }
    }

    /// <summary>Bytes of the protocol that the operating system has taken.</summary>
    public override long BytesSent => _sent.SentPlain(below.BytesSent);

    protected override long Ahead => PendingBytes;

    /// <summary>The settings of the connection below: it holds few bytes, and has no deadlines for them.</summary>
    public static ConnectionSettings SettingsBelow(ConnectionSettings settings) => settings with
    {
        MaxSendBytes = MostBelow * 2,
        WriteTimeout = TimeSpan.Zero,
        MinimumSendRate = 0,
    };

    /// <summary>Encrypts what was written, and hands it to the connection below.</summary>
    public override void Flush()
    {
        // Also repeated if the connection below has reported progress while the flusher was about to wait for it.
        while (TryBecomeFlusher() && Run())
        {
        }
    }

    /// <summary>
    /// Asks the connection below for a notification when it has sent enough for the flusher to continue, or for a waiter to have room.
    /// </summary>
    public void AwaitSending()
    {
        long mark = _stalled ? GoOnBelow : -1;
        if (NotEncrypted == 0)
        {
            mark = Math.Max(mark, connection.AwaitedPending);
        }

        if (mark >= 0)
        {
            below.NotifyWhenDrained(mark);
        }
    }

    /// <summary>The connection below has sent most of its bytes: the flusher resumes.</summary>
    public void Drained()
    {
        _stalled = false;
        Flush();
    }

    // True if there may be more to encrypt.
    private bool Run()
    {
        do
        {
            TryEncrypt();
        }
        while (TryTakeNext());

        below.Flush();
        connection.SentSome();
        AwaitSending();
        return !_stalled;
    }

    private void TryEncrypt()
    {
        try
        {
            EncryptRing();
        }
        catch (Exception e)
        {
            Close();
            connection.SendFault(e);
        }
    }

    private void EncryptRing()
    {
        while (!IsClosed && Sending is { IsEmpty: false } ring)
        {
            if (below.PendingBytes >= MostBelow)
            {
                _stalled = true;
                return;
            }

            int count = ring.IsUnframed || connection.Wire is not { } wire
                ? Encrypt(ring.NextMemory.Span)
                : wire.Sent(Encrypt(wire.Next(ring, ring.Bytes, LongestRecord).Span));
            _sent.Add(records.Written, count);
            ring.TakeSent(count, connection);
        }
    }

    // Writes the first bytes as one record. Returns how many bytes the record holds.
    private int Encrypt(ReadOnlySpan<byte> bytes)
    {
        bytes = bytes[..Math.Min(bytes.Length, LongestRecord)];
        stream.Write(bytes);
        return bytes.Length;
    }
}
