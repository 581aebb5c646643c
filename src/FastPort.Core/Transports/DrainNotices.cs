namespace FastPort.Transports;

/// <summary>
/// Who waits until no more than so many bytes wait to be sent: the protocol, once at a time, and any number of tasks. Safe from any thread;
/// whoever sends calls <see cref="Check"/> where <see cref="IsReached"/>, after a full fence behind its count of sent bytes, so that it
/// sees the mark or the waiter its progress. <see cref="_gate"/> guards all fields; <see cref="_mark"/> is read without it, too.
/// </summary>
internal sealed class DrainNotices(TransportConnection connection)
{
    private const long Nobody = -1;

    private readonly Lock _gate = new();
    private readonly List<Waiter> _waiters = [];
    private long _protocolMark = Nobody;

    // The highest of all.
    private long _mark = Nobody;

    /// <summary>Whether anybody waits.</summary>
    public bool IsAwaited => Volatile.Read(ref _mark) != Nobody;

    /// <summary>Whether somebody waits for no more than this.</summary>
    public bool IsReached(long pendingBytes) => pendingBytes <= Volatile.Read(ref _mark);

    /// <summary>One call of the protocol's; replaces the one before.</summary>
    public void NotifyProtocol(long pendingBytes)
    {
        lock (_gate)
        {
            _protocolMark = pendingBytes;
            SetMark();
        }

        Check();
    }

    /// <summary>True when no more than so many bytes wait; false when the connection closes before.</summary>
    public async ValueTask<bool> WaitAsync(long lowWater, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(this, lowWater);
        lock (_gate)
        {
            _waiters.Add(waiter);
            SetMark();
        }

        Check();
        using (cancellationToken.UnsafeRegister(static (state, token) => ((Waiter)state!).Cancel(token), waiter))
        {
            return await waiter.Task.ConfigureAwait(false);
        }
    }

    /// <summary>Tells those whose mark is reached, and all tasks once the connection closes.</summary>
    public void Check()
    {
        bool tellProtocol = false;
        lock (_gate)
        {
            while (_mark != Nobody)
            {
                // In this order: what is told that nobody closes may be told so a moment too late, never the other way round.
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

                // Their continuations run elsewhere.
                foreach (Waiter waiter in _waiters.Where(waiter => closing || pending <= waiter.LowWater))
                {
                    waiter.TrySetResult(!closing);
                }

                _waiters.RemoveAll(static waiter => waiter.Task.IsCompleted);
                SetMark();
            }
        }

        if (tellProtocol)
        {
            connection.OutputDrained();
        }
    }

    // A full fence between publishing the mark and looking at the counters.
    private void SetMark() =>
        Interlocked.Exchange(ref _mark, _waiters.Aggregate(_protocolMark, static (mark, waiter) => Math.Max(mark, waiter.LowWater)));

    private void Cancel(Waiter waiter, CancellationToken token)
    {
        lock (_gate)
        {
            if (!_waiters.Remove(waiter))
            {
                return;
            }

            SetMark();
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
