namespace FastPort.Transports.InProcess;

/// <content>The receiver's part. All of it is for the receiver's pump, one thread at a time.</content>
internal sealed partial class LinkLane
{
    private long _sent;
    private long _received;
    private bool _receiverGone;
    private volatile bool _isReset;

    /// <summary>What was taken and is not consumed yet.</summary>
    public SendRing Reading { get; private set; }

    /// <summary>Whether nothing comes behind what was taken: the sender has ended in order.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Whether the sender is gone and did not end in order.</summary>
    public bool IsReset
    {
        get => _isReset;
        private set => _isReset = value;
    }

    public long BytesReceived => Volatile.Read(ref _received);

    /// <summary>Takes all that was written, once <see cref="Reading"/> is empty. False where that is nothing.</summary>
    public bool TryTake()
    {
        if (Volatile.Read(ref _announced) <= _received && !_ending && !_closed)
        {
            return false;
        }

        lock (_gate)
        {
            bool taken = !_dropped && TrySwap();
            HasEnded = _ending && _writes == 0 && (_dropped || IsTaken);
            if (!taken)
            {
                return false;
            }
        }

        _sender.SentSome();
        return true;
    }

    /// <summary>Gives the owner of a taken segment its memory back.</summary>
    public void Return(in BorrowedSegments.Segment segment)
    {
        _sender.Release(segment);
        Interlocked.Add(ref _sent, segment.Memory.Length);
        _sender.SentSome();

        // Last: the sender may be over with this.
        Returned();
    }

    /// <summary>Before the receiver waits: an idle link holds no buffer.</summary>
    public void Rest()
    {
        Reading.Ring.TryReleaseWhenEmpty();
        lock (_gate)
        {
            if (!_dropped)
            {
                _filling.Ring.TryReleaseWhenEmpty();
                foreach (SendRing spare in _spares ?? [])
                {
                    spare.Ring.TryReleaseWhenEmpty();
                }
            }
        }
    }

    /// <summary>The receiver ends: what it has not consumed is dropped, and what is written from now on goes to nobody.</summary>
    public void CloseReceiver()
    {
        bool drop;
        bool undelivered;
        lock (_gate)
        {
            _receiverGone = true;
            undelivered = !_closed && !_outputDown && (_ending || !IsTaken);

            // One more until all are released below: the sender's end waits for that as well.
            _lent++;
            _closed = true;
            drop = TryDrop();
        }

        // First: what was dropped counts as sent, and who waits for room has to learn that there is none to come.
        if (undelivered)
        {
            _sender.Lose();
        }

        while (Reading.TryDrop(out BorrowedSegments.Segment taken))
        {
            Return(taken);
        }

        Reading.Ring.Dispose();
        if (drop)
        {
            ReleaseUnsent();
        }

        _sender.SentSome();
        Returned();
    }

    // Under the gate.
    private bool TrySwap()
    {
        if (_ready is not null && _ready.TryDequeue(out SendRing? batch))
        {
            (_spares ??= []).Push(Reading);
            Reading = batch;
            _readyBytes -= batch.Ring.Length;
        }
        else if (!_filling.IsEmpty)
        {
            (_filling, Reading) = (Reading, _filling);

            _burst.Saw(Reading.Ring.Length);
        }
        else
        {
            return false;
        }

        _lent += Reading.BorrowedCount;
        Volatile.Write(ref _received, _received + Reading.Ring.Length + Reading.BorrowedBytes);

        // A full fence before the mark for the notice is looked at. What the sender left behind is counted already.
        Interlocked.Add(ref _sent, _outputDown ? 0 : Reading.Ring.Length);
        return true;
    }

    private void Returned()
    {
        bool down;
        bool back;
        lock (_gate)
        {
            _lent--;
            if (_dropped)
            {
                Volatile.Write(ref _written, Volatile.Read(ref _sent));
            }

            down = TryGoDown();
            back = _awaited && _lent == 0;
            _awaited &= !back;
        }

        if (down)
        {
            _sender.OutputShutDown();
        }

        if (back)
        {
            _sender.BorrowedIsBack();
        }
    }
}
