using System.Diagnostics;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// One direction of a link: the sender's queue, from which the receiver's pump takes ring after ring and reads the very array that was
/// written to. The ring being read belongs to that pump; <see cref="SendQueue.Gate"/> guards the flags.
/// <para>
/// Bytes count as sent once the receiver has taken their ring; borrowed bytes count once their memory is released to its owner. Bytes left
/// when the sender ends in order count as sent, too: they stay here for the receiver, as in a socket's buffers.
/// </para>
/// </summary>
/// <param name="sender">The end that writes.</param>
/// <param name="receiver">The end that reads.</param>
/// <param name="settings">The settings of the sender.</param>
internal sealed class LinkPipe(InProcessConnection sender, InProcessConnection receiver, ConnectionSettings settings)
    : SendQueue(sender, settings), ISegmentReleaser
{
    private long _received;
    private long _announced;
    private bool _outputDown;
    private bool _receiverGone;
    private volatile bool _isReset;

    // The operations that the sender's end waits for: borrowed segments that the receiver has yet to release, the receiver's end while it
    // drops some, and the sender itself.
    private int _holds = 1;

    public long BytesReceived => Volatile.Read(ref _received);

    /// <summary>Whether the receiver has not yet taken all announced bytes.</summary>
    public bool IsBlocked => Volatile.Read(ref _announced) > BytesSent;

    /// <summary>Whether bytes were announced that the receiver has not taken. Belongs to the receiver.</summary>
    public bool HasUntaken => Volatile.Read(ref _announced) > _received;

    /// <summary>The ring that was taken and is not consumed yet. Belongs to the receiver.</summary>
    public SendRing Reading { get; private set; } = new(settings.MaxSendBytes, sender.SendPool);

    /// <summary>Whether no bytes follow the taken ones because the sender has ended in order. Belongs to the receiver.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Whether the sender has ended, and not in order.</summary>
    public bool IsReset => _isReset;

    /// <summary>Announces the written bytes to the receiver, whose pump takes them when it runs.</summary>
    public void Flush()
    {
        long written = Written;
        long announced = Volatile.Read(ref _announced);
        while (written > announced && written != BytesSent)
        {
            // The count never decreases: a thread that announces more than this one also signals the receiver.
            long seen = Interlocked.CompareExchange(ref _announced, written, announced);
            if (seen == announced)
            {
                receiver.Signal(PumpSignals.Bytes);
                return;
            }

            announced = seen;
        }
    }

    /// <summary>A write was refused: notifies the sender if the reason is that the receiver has ended.</summary>
    public void WriteRefused()
    {
        bool toNobody;
        lock (Gate)
        {
            toNobody = _receiverGone && !IsEnding;
        }

        if (toNobody)
        {
            sender.LosePeer();
        }
    }

    /// <summary>
    /// The sender ends. Unless it has ended in order before, the bytes not yet taken are dropped and the receiver sees a reset. The sender
    /// then ends its own hold.
    /// </summary>
    public void CloseSender()
    {
        lock (Gate)
        {
            Close();
            _isReset |= !_outputDown;
        }

        if (_isReset)
        {
            DropWaiting(taken: null);
        }

        receiver.Signal(PumpSignals.Look);
    }

    /// <summary>Takes the next ring, once <see cref="Reading"/> is empty. False if there is none. Called by the receiver.</summary>
    public bool TryTake()
    {
        if (Volatile.Read(ref _announced) <= _received && !IsEnding && !IsClosed)
        {
            return false;
        }

        lock (Gate)
        {
            SendRing? taken = Take();
            HasEnded = IsEnding && !HasWriter && IsEmpty;
            if (taken is null)
            {
                return false;
            }

            // The array stays with the ring: returned here, it would go to this core's part of the pool, where a writer on another core
            // does not find it.
            Return(Reading, keepArray: true);
            Reading = taken;
            _holds += taken.BorrowedCount;
            Volatile.Write(ref _received, _received + taken.Bytes);

            // A full fence before the check of the drain mark. Bytes that the sender left behind are counted already.
            CountSent(_outputDown ? 0 : taken.Ring.Length);
        }

        sender.SentSome();
        return true;
    }

    /// <summary>Releases a taken segment's memory to its owner. Called by the receiver.</summary>
    public void Release(SendRing.Segment segment)
    {
        sender.Release(segment);
        CountSent(segment.Memory.Length);
        sender.SentSome();

        // Last: after this call the sender may have ended.
        EndHold();
    }

    /// <summary>Returns arrays to the pool before the receiver waits: an idle link holds none. Called by the receiver.</summary>
    public void ReleaseWhenReceiverIdle()
    {
        Reading.Ring.TryReleaseWhenEmpty();
        ReleaseSpares();
    }

    /// <summary>The receiver ends: the bytes it has not consumed are dropped, and later writes are refused.</summary>
    public void CloseReceiver()
    {
        bool undelivered;
        bool holds;
        lock (Gate)
        {
            _receiverGone = true;
            undelivered = !IsClosed && !_outputDown && (IsEnding || !IsEmpty);

            // Until all segments are released below, the sender's end also waits for these. A sender that has ended waits for nothing.
            holds = _holds != 0;
            _holds += holds ? 1 : 0;
            Close();
        }

        // First: dropped bytes count as sent, and a writer that waits for room has to see that the connection is lost.
        if (undelivered)
        {
            sender.LosePeer();
        }

        Reading.Drop(this);
        ReleaseSpares();
        DropWaiting(taken: null, countAsSent: _outputDown);
        sender.SentSome();
        if (holds)
        {
            EndHold();
        }
    }

    /// <summary>A hold has ended; with the last one the sender has.</summary>
    public void EndHold()
    {
        bool down;
        bool isOver;
        lock (Gate)
        {
            _holds--;
            down = TryGoDown();
            isOver = _holds == 0;
        }

        if (down)
        {
            sender.ShutDownOutput();
        }

        if (isOver)
        {
            sender.Finish();
        }
    }

    protected override void Ending()
    {
        bool down;
        lock (Gate)
        {
            // If the receiver has ended in order there is nothing left to wait for.
            down = TryGoDown() || _receiverGone;
        }

        receiver.Signal(PumpSignals.Bytes);
        sender.SentSome();
        if (down)
        {
            sender.ShutDownOutput();
        }
    }

    // Under the gate. True once, when all remaining bytes can stay here for the receiver: the caller then calls the sender's
    // ShutDownOutput.
    private bool TryGoDown()
    {
        Debug.Assert(Gate.IsHeldByCurrentThread);
        if (!IsEnding || HasWriter || _outputDown || IsClosed || _holds != 1 || Waiting.Any(static ring => ring.BorrowedCount != 0))
        {
            return false;
        }

        _outputDown = true;
        CountSent(Waiting.Sum(static ring => (long)ring.Ring.Length));
        return true;
    }
}
