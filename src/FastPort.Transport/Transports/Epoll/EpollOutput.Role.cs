using FastPort.Transports.Epoll.Loop;

namespace FastPort.Transports.Epoll;

/// <content>
/// Which thread sends, and when. One thread at a time sends: the thread that holds the role (<see cref="_role"/>). That is the loop or,
/// while the loop sleeps or many bytes are pending, a thread that has just written. When the loop sleeps, the writer's system call replaces
/// the one that would wake the loop, and saves the wake-up itself.
/// <para>
/// The loop never waits for the role. When another thread holds the role, the loop marks it wanted, and that thread posts a flush to the
/// loop after it has released the role. A writer that does not get the role posts a flush too. So all written bytes are sent.
/// </para>
/// </content>
internal sealed partial class EpollOutput
{
    private const int WriterSendsFromBytes = 32 * 1024;

    private const int Free = 0;
    private const int Taken = 1;
    private const int Wanted = 2;

    private int _role;

    // Used only by the thread that holds the role.
    private SendRing? _others;

    // Set by the thread that sends; never cleared.
    private volatile bool _failed;

    // True initially: the connection is first watched for writability.
    private bool _awaitsWritable = true;

    private volatile bool _blocked;

    // Used only by the loop: the socket has reported that it is writable. Stays set until the loop takes the role, also while another
    // thread that finds the socket blocked holds the role.
    private bool _writable;

    // Set by a thread that sends in place of the loop; cleared by the loop when it has received.
    private int _sentByWriter;

    /// <summary>Whether the socket has refused to take more and has not been writable since.</summary>
    public bool IsBlocked => _blocked;

    /// <summary>Called when the loop has received: the next thread that writes while the loop sleeps may send by itself again.</summary>
    public void AllowSendByWriter()
    {
        if (_sentByWriter != 0)
        {
            Volatile.Write(ref _sentByWriter, 0);
        }
    }

    /// <summary>
    /// Sends on a thread that is not the loop's. False when the loop must send: the loop is awake and sends without being woken, or this
    /// would be the second send by a writer since the loop last received. A writer of many messages in a row gains more from an awake loop,
    /// which sends them together. With <see cref="WriterSendsFromBytes"/> pending, which every full chunk of a batch exceeds, the writer
    /// sends anyway: a system call for that many bytes is worthwhile, waking the loop is not, and the writer must not outrun the loop.
    /// While the socket is blocked no request is needed: the socket's event makes the loop continue.
    /// </summary>
    public bool TrySendByWriter(EpollLoop loop)
    {
        if (_blocked && !IsEnding)
        {
            // The bytes were written before this read of the mark, and the loop clears the mark before it checks for bytes. So either the
            // loop sees the bytes or this thread sees the cleared mark.
            Interlocked.MemoryBarrier();
            if (_blocked)
            {
                return true;
            }
        }

        if (_blocked || IsEnding || !IsWorthwhileByWriter(loop)
            || Interlocked.CompareExchange(ref _role, Taken, Free) != Free)
        {
            return false;
        }

        bool done = false;
        Exception? thrown = null;
        if (!_failed)
        {
            try
            {
                done = SendOneRing();
            }
            catch (Exception e)
            {
                thrown = e;
                _failed = true;
            }
        }

        done &= Interlocked.Exchange(ref _role, Free) != Wanted;
        Report(thrown);
        return done;
    }

    // Called on a thread other than the loop. Sends only when the loop's ring is fully sent, because only the loop sends from its ring.
    // False when the loop has to send the rest. When the socket is blocked, its event makes the loop continue.
    private bool SendOneRing()
    {
        long sentByLoop = _lockFreeRing.Sent;
        if (LoopBytes != sentByLoop)
        {
            return false;
        }

        return (TryTakeOthers(sentByLoop) && !SendOthers()) || PendingBytes == 0;
    }

    /// <summary>Notes that the socket is writable again; on the loop, before <see cref="SendOnLoop"/>.</summary>
    public void Writable() => _writable = true;

    /// <summary>Sends all pending bytes until the socket is full or the turn ends; on the loop.</summary>
    public void SendOnLoop()
    {
        if ((_blocked && !_writable) || !TryTakeRole())
        {
            return;
        }

        _writable = false;
        Exception? thrown = null;
        try
        {
            if (!_failed)
            {
                SendAll();
            }
        }
        catch (Exception e)
        {
            thrown = e;
            _failed = true;
        }

        if (_awaitsWritable && !_blocked && !_failed)
        {
            // Refused, the loop only wakes more often than needed.
            _awaitsWritable = false;
            _ = _connection.TryAwaitWritable(forRoom: false);
        }

        Volatile.Write(ref _role, Free);
        Report(thrown);
    }

    /// <summary>
    /// Releases all memory as the last step, after <see cref="SendQueue.Close"/>. False when another thread is sending; that thread then
    /// posts a flush.
    /// </summary>
    public bool TryFinish()
    {
        if (!TryTakeRole())
        {
            return false;
        }

        LoopBytes -= _lockFreeRing.Bytes;
        _lockFreeRing.Drop(_connection);
        DropWaiting(_others);
        return true;
    }

    private bool IsWorthwhileByWriter(EpollLoop loop) =>
        PendingBytes >= WriterSendsFromBytes || (loop.IsAsleep && Interlocked.Exchange(ref _sentByWriter, 1) == 0);

    // Called after the role is released: borrowed memory may be invalid, and the end of the connection must not block on the role.
    private void Report(Exception? thrown)
    {
        if (thrown is not null)
        {
            _connection.SendFault(thrown);
        }
    }

    // Called only by the loop.
    private bool TryTakeRole()
    {
        while (true)
        {
            if (Interlocked.CompareExchange(ref _role, Taken, Free) == Free)
            {
                return true;
            }

            if (Interlocked.CompareExchange(ref _role, Wanted, Taken) != Free)
            {
                return false;
            }
        }
    }
}
