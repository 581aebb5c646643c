using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// One direction of a link: the sender's queue, from which the receiver's pump takes ring after ring, so that it reads the very array that
/// was written to. The ring being read is that pump's; <see cref="SendQueue.Gate"/> guards the flags.
/// <para>
/// Bytes count as sent when the receiver has taken their ring; borrowed ones when their owner has them back, as until then they bind the
/// owner's memory. What is left when the sender ends in order counts as sent, too: it stays here for the receiver, as it would in a
/// socket's buffers.
/// </para>
/// </summary>
/// <param name="sender">The end that writes.</param>
/// <param name="receiver">The end that reads.</param>
/// <param name="settings">The sender's.</param>
internal sealed class LinkPipe(InProcessConnection sender, InProcessConnection receiver, ConnectionSettings settings)
    : SendQueue(sender, settings)
{
    private long _sent;
    private long _received;
    private long _announced;
    private bool _outputDown;
    private bool _receiverGone;
    private volatile bool _isReset;

    // What the receiver has to give back of what was borrowed, and whether the sender's end waits for that.
    private int _lent;
    private bool _awaited;

    public long BytesSent => Volatile.Read(ref _sent);

    public long BytesReceived => Volatile.Read(ref _received);

    public long PendingBytes => Written - Volatile.Read(ref _sent);

    /// <summary>Whether the receiver has not taken all that was announced to it.</summary>
    public bool IsBlocked => Volatile.Read(ref _announced) > Volatile.Read(ref _sent);

    /// <summary>What was taken and is not consumed yet; the receiver's.</summary>
    public SendRing Reading { get; private set; } = new(settings.MaxSendBytes, sender.SendPool);

    /// <summary>Whether nothing comes behind what was taken: the sender has ended in order. The receiver's.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Whether the sender is gone and did not end in order.</summary>
    public bool IsReset => _isReset;

    /// <summary>Announces what was written to the receiver, which takes it when it gets there.</summary>
    public void Flush()
    {
        long written = Written;
        long announced = Volatile.Read(ref _announced);
        while (written > announced && written != Volatile.Read(ref _sent))
        {
            // Never backwards: who announces more than this one signals that, too.
            long seen = Interlocked.CompareExchange(ref _announced, written, announced);
            if (seen == announced)
            {
                receiver.Signal(PumpSignals.Bytes);
                return;
            }

            announced = seen;
        }
    }

    /// <summary>Ends this direction behind what was written. Later writes are refused.</summary>
    public void ShutDown()
    {
        End();
        LastWriteEnded();
    }

    /// <summary>A write was refused: the sender learns here that the receiver is gone.</summary>
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
    /// The sender ends. Unless it has ended in order before, what was not taken is dropped and the receiver sees a reset. False where
    /// borrowed memory is still to come back: the receiver tells when it has.
    /// </summary>
    public bool TryCloseSender()
    {
        bool isBack;
        lock (Gate)
        {
            Close();
            _isReset |= !_outputDown;
            isBack = _lent == 0;
            _awaited = !isBack;
        }

        if (_isReset)
        {
            DropWaiting(taken: null);
        }

        receiver.Signal(PumpSignals.Look);
        return isBack;
    }

    /// <summary>Takes what was written, once <see cref="Reading"/> is empty. False where that is nothing. By the receiver.</summary>
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

            // The writer, on another core, would find the pool of its own empty.
            Return(Reading, keepArray: true);
            Reading = taken;
            _lent += taken.BorrowedCount;
            Volatile.Write(ref _received, _received + taken.Bytes);

            // A full fence before the mark for the notice is looked at. What the sender left behind is counted already.
            Interlocked.Add(ref _sent, _outputDown ? 0 : taken.Ring.Length);
        }

        sender.SentSome();
        return true;
    }

    /// <summary>Gives the owner of a taken segment its memory back. By the receiver.</summary>
    public void GiveBack(BorrowedSegments.Segment segment)
    {
        sender.Release(segment);
        Interlocked.Add(ref _sent, segment.Memory.Length);
        sender.SentSome();

        // Last: the sender may be over with this.
        GaveBack();
    }

    /// <summary>Before the receiver waits: an idle link holds no array. By the receiver.</summary>
    public void ReleaseWhenReceiverIdle()
    {
        Reading.Ring.TryReleaseWhenEmpty();
        ReleaseSpares();
    }

    /// <summary>The receiver ends: what it has not consumed is dropped, and what is written from now on goes to nobody.</summary>
    public void CloseReceiver()
    {
        bool undelivered;
        lock (Gate)
        {
            _receiverGone = true;
            undelivered = !IsClosed && !_outputDown && (IsEnding || !IsEmpty);

            // One more until all are released below: the sender's end waits for that as well.
            _lent++;
            Close();
        }

        // First: what was dropped counts as sent, and who waits for room has to learn that there is none to come.
        if (undelivered)
        {
            sender.LosePeer();
        }

        Reading.Drop(GiveBack);
        ReleaseSpares();
        DropWaiting(taken: null, countAsSent: _outputDown);
        sender.SentSome();
        GaveBack();
    }

    protected override void LastWriteEnded()
    {
        bool down;
        lock (Gate)
        {
            // With the receiver gone in order nothing is left to wait for.
            down = TryGoDown() || _receiverGone;
        }

        receiver.Signal(PumpSignals.Bytes);
        sender.SentSome();
        if (down)
        {
            sender.OutputShutDown();
        }
    }

    // Under the gate. True once, when nothing is left that only the sender has: the caller owes the sender the news.
    private bool TryGoDown()
    {
        if (!IsEnding || HasWriter || _outputDown || IsClosed || _lent != 0 || Waiting.Any(static ring => ring.BorrowedCount != 0))
        {
            return false;
        }

        _outputDown = true;
        Interlocked.Add(ref _sent, Waiting.Sum(static ring => (long)ring.Ring.Length));
        return true;
    }

    private void GaveBack()
    {
        bool down;
        bool isBack;
        lock (Gate)
        {
            _lent--;
            down = TryGoDown();
            isBack = _awaited && _lent == 0;
            _awaited &= !isBack;
        }

        if (down)
        {
            sender.OutputShutDown();
        }

        if (isBack)
        {
            sender.BorrowedIsBack();
        }
    }
}
