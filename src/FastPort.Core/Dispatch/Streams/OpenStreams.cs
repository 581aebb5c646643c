namespace FastPort.Dispatch.Streams;

/// <summary>
/// The streams that a session's peer has opened, by correlation. The loop adds and looks up, any thread removes. A call whose handler still
/// runs after it was canceled keeps its place: handlers that ignore their token stay bounded. <see cref="_gate"/> guards all fields.
/// </summary>
/// <param name="max">The number of places.</param>
internal sealed class OpenStreams(int max)
{
    // The end of the requests of a call that the handler has ended before may still be under way.
    private const int Remembered = 128;

    private readonly Lock _gate = new();
    private readonly Dictionary<uint, StreamCall> _calls = [];
    private readonly Queue<uint> _endsUnderWay = new();
    private int _places;

    /// <summary>Number of open streams. For tests.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _calls.Count;
            }
        }
    }

    /// <summary>Number of places that are taken. For tests.</summary>
    public int Places => Volatile.Read(ref _places);

    /// <summary>Whether one more stream may be opened. Loop only.</summary>
    public bool HasRoom => Volatile.Read(ref _places) < max;

    public void Add(StreamCall call)
    {
        lock (_gate)
        {
            _calls.Add(call.Correlation, call);
            call.HoldsPlace = true;
            _places++;
        }
    }

    /// <summary>The open stream with this correlation; null if there is none.</summary>
    public StreamCall? Find(uint correlation)
    {
        lock (_gate)
        {
            return _calls.GetValueOrDefault(correlation);
        }
    }

    public StreamCall[] ToArray()
    {
        lock (_gate)
        {
            return [.. _calls.Values];
        }
    }

    /// <summary>The stream has ended.</summary>
    /// <param name="call">The stream.</param>
    /// <param name="leaves">Whether its handler has ended too.</param>
    public void Remove(StreamCall call, bool leaves)
    {
        lock (_gate)
        {
            _calls.Remove(call.Correlation);
            if (leaves)
            {
                FreePlace(call);
            }

            if (!call.HasAllRequests)
            {
                if (_endsUnderWay.Count == Remembered)
                {
                    _endsUnderWay.Dequeue();
                }

                _endsUnderWay.Enqueue(call.Correlation);
            }
        }
    }

    /// <summary>The stream's handler has ended.</summary>
    public void Leave(StreamCall call)
    {
        lock (_gate)
        {
            FreePlace(call);
        }
    }

    /// <summary>
    /// Whether the end of this call's requests was to be expected although the call has ended: it is ignored then. Only the last calls are
    /// remembered; the peer ignores the error that an older one gets.
    /// </summary>
    public bool IsUnderWay(uint correlation)
    {
        lock (_gate)
        {
            return _endsUnderWay.Contains(correlation);
        }
    }

    private void FreePlace(StreamCall call)
    {
        if (call.HoldsPlace)
        {
            call.HoldsPlace = false;
            _places--;
        }
    }
}
