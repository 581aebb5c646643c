namespace FastPort.Client.Load;

/// <summary>The received and the expected messages of one session; written by its loop.</summary>
internal sealed class StreamCount(Session session, int size)
{
    private long _received;
    private long _wrongSize;
    private long _expected;
    private volatile bool _cut;
    private bool _lost;

    public Session Session => session;

    public long Received => Volatile.Read(ref _received);

    public void Add(long bytes)
    {
        Volatile.Write(ref _received, _received + 1);
        if (bytes != size)
        {
            Volatile.Write(ref _wrongSize, _wrongSize + 1);
        }
    }

    public void Expect(int messages) => Volatile.Write(ref _expected, _expected + messages);

    /// <summary>A stream of this session was interrupted: its expected count is unknown.</summary>
    public void Cut() => _cut = true;

    /// <summary>The session was lost with a stream. Returns whether that is the first one.</summary>
    public bool Lose()
    {
        _cut = true;
        return !Interlocked.Exchange(ref _lost, true);
    }

    public void Verify(LoadErrors errors, bool cut)
    {
        long wrong = Volatile.Read(ref _wrongSize);
        if (wrong != 0)
        {
            errors.Add(LoadErrorKind.Wrong, $"Messages of a stream did not have the requested {size} bytes.", wrong);
        }

        long expected = Volatile.Read(ref _expected);
        if (_cut || cut ? Received < expected : Received != expected)
        {
            errors.Add(LoadErrorKind.Wrong, $"A connection received {Received} messages; its streams had {expected}.");
        }
    }
}
