using FastPort.Connections;

namespace FastPort.Transports.Layers;

/// <summary>
/// The send side of a connection that runs above another one. The flusher wraps ring after ring in pieces and writes them to the connection
/// below. Several small messages that were written since the last flush share a piece.
/// <para>
/// While the connection below holds much that the peer has not taken, the flusher stops, and continues when that has been sent: waiting
/// bytes are still unwrapped then, and become large pieces.
/// </para>
/// </summary>
internal abstract class LayerOutput(LayeredConnection connection, Connection below, ConnectionSettings settings)
    : FlusherOutput(connection, settings)
{
    /// <summary>Bytes that the connection below holds at most, but for one piece.</summary>
    public const int MostBelow = 256 * 1024;

    /// <summary>The longest piece, in bytes: a TLS record holds no more (RFC 8446, 5.1).</summary>
    protected const int LongestPiece = 16 * 1024;

    /// <summary>Bytes that the flusher waits for before it continues.</summary>
    private const int GoOnBelow = MostBelow / 2;

    private readonly SentPieces _sent = new();
    private volatile bool _stalled;

    /// <summary>Written bytes that are not wrapped yet.</summary>
    public long NotWrapped => Written - _sent.Wrapped;

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

    /// <summary>Wraps what was written, and hands it to the connection below.</summary>
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
        if (NotWrapped == 0)
        {
            mark = Math.Max(mark, connection.AwaitedPending);
        }

        if (mark >= 0)
        {
            below.NotifyWhenDrained(mark);
        }
    }

    /// <summary>The connection below has sent much of what it had: the flusher can go on.</summary>
    public void Drained()
    {
        _stalled = false;
        Flush();
    }

    /// <summary>Writes the beginning of the bytes below as one piece. Called by the flusher.</summary>
    /// <param name="bytes">Bytes of the protocol, not empty.</param>
    /// <param name="end">Where the piece ends among the bytes ever handed to the connection below.</param>
    /// <returns>How many of the bytes the piece has, at least one.</returns>
    protected abstract int Wrap(ReadOnlySpan<byte> bytes, out long end);

    // True if there may be more to wrap.
    private bool Run()
    {
        do
        {
            TryWrap();
        }
        while (TryTakeNext());

        below.Flush();
        connection.SentSome();
        AwaitSending();
        return !_stalled;
    }

    private void TryWrap()
    {
        try
        {
            Wrap();
        }
        catch (Exception e)
        {
            Close();
            connection.SendFault(e);
        }
    }

    private void Wrap()
    {
        while (!IsClosed && Sending is { IsEmpty: false } ring)
        {
            if (below.PendingBytes >= MostBelow)
            {
                _stalled = true;
                return;
            }

            int count;
            long end;
            if (!ring.IsUnframed && connection.Wire is { } wire)
            {
                // A piece that is one frame.
                count = wire.Sent(Wrap(wire.Next(ring, ring.Bytes, LongestPiece).Span, out end));
            }
            else
            {
                count = Wrap(ring.NextMemory.Span, out end);
            }

            _sent.Add(end, count);
            ring.TakeSent(count, connection);
        }
    }
}
