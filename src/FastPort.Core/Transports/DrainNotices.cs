namespace FastPort.Transports;

/// <summary>
/// The waits for the number of pending bytes to fall to a mark: one of the protocol, and any number of tasks. Thread-safe. The sender calls
/// <see cref="Check"/> if <see cref="IsReached"/>, after a full fence that follows its update of the sent bytes: so either the sender sees
/// the mark or the waiter sees the update. <see cref="_gate"/> guards all fields; <see cref="_mark"/> is also read without it.
/// </summary>
internal sealed class DrainNotices(TransportConnection connection)
{
    private const long Nobody = -1;

    private readonly Lock _gate = new();
    private readonly HashSet<Waiter> _waiters = [];
    private long _protocolMark = Nobody;

    // Bytes that were sent when the first of those who wait now began to.
    private long _sentBefore;

    // The highest mark of all waits; written with a full fence, before the counters are read. Higher after one was canceled or replaced,
    // until the next check: to look through all that are left each time would make loops wait for it.
    private long _mark = Nobody;

    /// <summary>The highest number of pending bytes that somebody waits for; -1 if nobody waits.</summary>
    public long Awaited => Volatile.Read(ref _mark);

    /// <summary>What the connection had sent when somebody began to wait; of no meaning while nobody waits.</summary>
    public long SentBefore => Volatile.Read(ref _sentBefore);

    /// <summary>Whether this number of pending bytes has reached the highest mark.</summary>
    public bool IsReached(long pendingBytes) => pendingBytes <= Volatile.Read(ref _mark);

    /// <summary>Requests one call of the protocol; replaces an earlier request.</summary>
    public void NotifyProtocol(long pendingBytes)
    {
        lock (_gate)
        {
            _protocolMark = pendingBytes;
            Raise(pendingBytes);
        }

        connection.RoomAwaited();
        Check();
    }

    /// <summary>True once no more than this many bytes are pending; false if the connection closes before.</summary>
    public async ValueTask<bool> WaitAsync(long lowWater, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(this, lowWater);
        lock (_gate)
        {
            _waiters.Add(waiter);
            Raise(lowWater);
        }

        connection.RoomAwaited();
        Check();
        using (cancellationToken.UnsafeRegister(static (state, token) => ((Waiter)state!).Cancel(token), waiter))
        {
            return await waiter.Task.ConfigureAwait(false);
        }
    }

    /// <summary>Notifies the waiters whose mark is reached, and all tasks once the connection closes.</summary>
    public void Check()
    {
        bool tellProtocol = false;
        lock (_gate)
        {
            while (_mark != Nobody)
            {
                // No lock covers both. A connection that begins to close in between may still report room: the next write is refused.
                bool closing = connection.IsClosing;
                long pending = connection.PendingBytes;
                if (pending > _mark && !(closing && _waiters.Count != 0))
                {
                    break;
                }

                if (pending <= _protocolMark)
                {
                    _protocolMark = Nobody;
                    tellProtocol = true;
                }

                // Their continuations run on other threads.
                foreach (Waiter waiter in _waiters.Where(waiter => closing || pending <= waiter.LowWater))
                {
                    waiter.TrySetResult(!closing);
                }

                _waiters.RemoveWhere(static waiter => waiter.Task.IsCompleted);
                Forget();
                long mark = _waiters.Aggregate(_protocolMark, static (most, waiter) => Math.Max(most, waiter.LowWater));
                Interlocked.Exchange(ref _mark, mark);
            }
        }

        if (tellProtocol)
        {
            connection.OutputDrained();
        }
    }

    // Under the gate.
    private void Raise(long mark)
    {
        if (_mark == Nobody)
        {
            Volatile.Write(ref _sentBefore, connection.BytesSent);
        }

        Interlocked.Exchange(ref _mark, Math.Max(_mark, mark));
    }

    // Under the gate. A set that was large is walked in its former length as long as it is not cleared.
    private void Forget()
    {
        if (_waiters.Count == 0)
        {
            _waiters.Clear();
        }
    }

    private void Cancel(Waiter waiter, CancellationToken token)
    {
        lock (_gate)
        {
            if (!_waiters.Remove(waiter))
            {
                return;
            }

            if (_waiters.Count == 0)
            {
                Forget();
                Interlocked.Exchange(ref _mark, _protocolMark);
            }
        }

        waiter.TrySetCanceled(token);
    }

    private sealed class Waiter(DrainNotices notices, long lowWater) : TaskCompletionSource<bool>(
        TaskCreationOptions.RunContinuationsAsynchronously)
    {
        public long LowWater => lowWater;

        public void Cancel(CancellationToken token) => notices.Cancel(this, token);
    }
}
