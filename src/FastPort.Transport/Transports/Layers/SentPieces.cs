namespace FastPort.Transports.Layers;

/// <summary>
/// The pieces, TLS records or WebSocket frames, that wait to be sent: how many of the protocol's bytes each has, and where it ends among
/// the bytes below. So a connection can say how many of its protocol's bytes were sent. Thread-safe: <see cref="_gate"/> guards all fields.
/// </summary>
internal sealed class SentPieces
{
    private readonly Lock _gate = new();
    private readonly Queue<(long End, int Plain)> _pieces = new();

    // Plain bytes of all pieces, and of those in the queue.
    private long _wrapped;
    private long _waiting;

    /// <summary>Plain bytes of all pieces.</summary>
    public long Wrapped
    {
        get
        {
            lock (_gate)
            {
                return _wrapped;
            }
        }
    }

    /// <summary>Adds a piece.</summary>
    /// <param name="end">Where it ends, in bytes below from the connection's first one.</param>
    /// <param name="plain">Its plain bytes.</param>
    public void Add(long end, int plain)
    {
        lock (_gate)
        {
            _pieces.Enqueue((end, plain));
            _wrapped += plain;
            _waiting += plain;
        }
    }

    /// <summary>
    /// Plain bytes that were sent. Of a piece that was sent in part, no more bytes count as unsent than bytes below are unsent.
    /// </summary>
    /// <param name="sent">Bytes that the connection below has sent so far.</param>
    public long SentPlain(long sent)
    {
        lock (_gate)
        {
            while (_pieces.TryPeek(out (long End, int Plain) first))
            {
                if (first.End > sent)
                {
                    return _wrapped - _waiting + first.Plain - Math.Min(first.Plain, first.End - sent);
                }

                _pieces.Dequeue();
                _waiting -= first.Plain;
            }

            return _wrapped;
        }
    }
}
