using System.Net.Security;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Tls;

/// <summary>
/// The send side of an encrypted connection. One flusher at a time (<see cref="_flushing"/>) takes ring after ring from the queue, encrypts
/// it and writes the records to the connection below. Several small messages that were written since the last flush share a record.
/// <para>
/// While the connection below holds much that the peer has not taken, the flusher stops, and goes on when that has been sent: what waits is
/// still plain then, and becomes large records.
/// </para>
/// </summary>
internal sealed class TlsOutput(
    TlsConnection connection, Connection below, SslStream stream, RecordStream records, ConnectionSettings settings)
    : SendQueue(connection, settings)
{
    /// <summary>Encrypted bytes that the connection below holds at most, but for one record.</summary>
    public const int MostBelow = 256 * 1024;

    /// <summary>Bytes that the flusher waits for before it goes on.</summary>
    private const int GoOnBelow = MostBelow / 2;

    // A record holds at most this many bytes (RFC 8446, 5.1).
    private const int MaxRecord = 16 * 1024;

    private readonly SentRecords _sent = new();
    private SendRing? _taken;
    private volatile bool _stalled;

    // Guarded by the gate: whether a flusher is active, whether the stream's end was sent, and whether the connection has ended, in which
    // case the last flusher releases everything.
    private bool _flushing;
    private bool _isDown;
    private bool _ended;

    /// <summary>Written bytes that are not encrypted yet.</summary>
    public long NotEncrypted => Written - _sent.Encrypted;

    /// <summary>Written bytes that the operating system has not taken yet.</summary>
    public override long PendingBytes
    {
        get
        {
            // First what was written: what is sent in between must not count as pending.
            long written = Written;
            return Math.Max(0, written - BytesSent);
        }
    }

    /// <summary>Bytes of the protocol that the operating system has taken.</summary>
    public override long BytesSent => _sent.SentPlain(below.BytesSent);

    protected override long Ahead => PendingBytes;

    /// <summary>Encrypts what was written, and hands it to the connection below.</summary>
    public void Flush()
    {
        // Whoever writes while the flusher is at work finds it there and relies on it.
        while (TryBecomeFlusher() && Run())
        {
        }
    }

    /// <summary>Closes the send side. True if no flusher is active; otherwise the flusher reports the end.</summary>
    public bool TryClose()
    {
        lock (Gate)
        {
            Close();
            _ended = true;
            if (_flushing)
            {
                return false;
            }
        }

        DropWaiting(_taken);
        return true;
    }

    /// <summary>
    /// Has the connection below tell when it has sent so much that the flusher can go on, or that somebody who waits for room has it.
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

    protected override void Ending() => Flush();

    // Under the gate.
    private bool IsToBeShutDown => IsEnding && !HasWriter && IsEmpty && _taken is null && !_isDown;

    private bool TryBecomeFlusher()
    {
        lock (Gate)
        {
            if (_flushing || IsClosed || _isDown)
            {
                return false;
            }

            _taken ??= Take();
            _flushing = _taken is not null || IsToBeShutDown;
            return _flushing;
        }
    }

    // True if there may be more to encrypt.
    private bool Run()
    {
        try
        {
            do
            {
                Encrypt();
            }
            while (TryTakeNext());
        }
        catch (Exception e)
        {
            Close();
            connection.SendFault(e);
        }

        below.Flush();
        if (_isDown)
        {
            connection.ShutDownOutput();
        }

        return Stop();
    }

    private void Encrypt()
    {
        while (!IsClosed && _taken is { IsEmpty: false } ring)
        {
            if (below.PendingBytes >= MostBelow)
            {
                _stalled = true;
                return;
            }

            ReadOnlySpan<byte> next = ring.NextMemory.Span;
            next = next[..Math.Min(next.Length, MaxRecord)];
            stream.Write(next);

            _sent.Add(records.Written, next.Length);
            ring.TakeSent(next.Length, connection);
        }
    }

    // False if there is nothing more to encrypt, or not now.
    private bool TryTakeNext()
    {
        lock (Gate)
        {
            // A ring with bytes left is one that the flusher has stopped in.
            if (IsClosed || _taken is { IsEmpty: false })
            {
                return false;
            }

            if (_taken is { } encrypted)
            {
                Return(encrypted);
            }

            _taken = Take();
            _isDown |= _taken is null && IsToBeShutDown;
            return _taken is not null;
        }
    }

    private bool Stop()
    {
        bool isOver;
        lock (Gate)
        {
            _flushing = false;
            isOver = _ended;
        }

        if (isOver)
        {
            DropWaiting(_taken);
            connection.OutputQuiescent();
            return false;
        }

        connection.SentSome();
        AwaitSending();
        return !_stalled;
    }

    /// <summary>The connection below has sent much of what it had: the flusher can go on.</summary>
    public void Drained()
    {
        _stalled = false;
        Flush();
    }
}
