using System.Diagnostics;

namespace FastPort.Transports;

/// <summary>
/// The waits for the number of pending bytes to fall to a mark: one of the protocol, and any number of tasks. Thread-safe. The sender calls
/// <see cref="Check"/> if the mark is reached, after a full fence that follows its update of the sent bytes: so either the sender sees the
/// mark or the waiter sees the update. <see cref="_gate"/> guards all fields, and the connection's two, which are also read without it.
/// </summary>
internal sealed class DrainNotices(TransportConnection connection)
{
    private const long Nobody = -1;

    private readonly Lock _gate = new();
    private readonly HashSet<Waiter> _waiters = [];
    private long _protocolMark = Nobody;

    // The highest mark of all waits; written with a full fence, before the counters are read. Higher after one was canceled or replaced,
    // until the next check: to look through all that are left each time would make loops wait for it.
    private ref long Mark => ref connection.AwaitedMark;

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
            while (Mark != Nobody)
            {
                // No lock covers both. A connection that begins to close in between may still report room: the next write is refused.
                bool closing = connection.IsClosing;
                long pending = connection.PendingBytes;
                if (pending > Mark && !(closing && _waiters.Count != 0))
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
                Interlocked.Exchange(ref Mark, mark);
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
        Debug.Assert(_gate.IsHeldByCurrentThread);
        if (Mark == Nobody)
        {
            Volatile.Write(ref connection.SentBeforeWaits, connection.BytesSent);
        }

        Interlocked.Exchange(ref Mark, Math.Max(Mark, mark));
    }

    // Under the gate. A set that was large is walked in its former length as long as it is not cleared.
    private void Forget()
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
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
                Interlocked.Exchange(ref Mark, _protocolMark);
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
