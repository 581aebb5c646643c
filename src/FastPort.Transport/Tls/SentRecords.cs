namespace FastPort.Tls;

/// <summary>
/// The TLS records that wait to be sent: how many of the protocol's bytes each has, and where it ends among the bytes below. So a
/// connection can say how many of its protocol's bytes were sent. Thread-safe: <see cref="_gate"/> guards all fields.
/// </summary>
internal sealed class SentRecords
{
    private readonly Lock _gate = new();
    private readonly Queue<(long End, int Plain)> _records = new();

    // Plain bytes of all records, and of those in the queue.
    private long _encrypted;
    private long _waiting;

    /// <summary>Plain bytes of all records.</summary>
    public long Encrypted
    {
        get
        {
            lock (_gate)
            {
                return _encrypted;
            }
        }
    }

    /// <summary>Adds a record.</summary>
    /// <param name="end">Where it ends, in bytes below from the connection's first one.</param>
    /// <param name="plain">Its plain bytes.</param>
    public void Add(long end, int plain)
    {
        lock (_gate)
        {
            _records.Enqueue((end, plain));
            _encrypted += plain;
            _waiting += plain;
        }
    }

    /// <summary>
    /// Plain bytes that were sent. Of a record that was sent in part, no more bytes count as unsent than bytes below are unsent.
    /// </summary>
    /// <param name="sent">Bytes that the connection below has sent so far.</param>
    public long SentPlain(long sent)
    {
        lock (_gate)
        {
            while (_records.TryPeek(out (long End, int Plain) first))
            {
                if (first.End > sent)
                {
                    return _encrypted - _waiting + first.Plain - Math.Min(first.Plain, first.End - sent);
                }

                _records.Dequeue();
                _waiting -= first.Plain;
            }

            return _encrypted;
        }
    }
}
