using FastPort.Transports.Epoll.Loop;

namespace FastPort.Transports.Epoll;

/// <summary>
/// The sending half of the send side: here who sends and when, in the other file what. One thread at a time sends, the one that holds the
/// role (<see cref="_role"/>): the loop, or, while the loop sleeps, a thread that has just written: its own system call then replaces the
/// one that would wake the loop, and the loop's wake-up besides.
/// <para>
/// The loop never waits for the role. Where another thread has it, the loop marks it wanted and that thread posts a flush to the loop when
/// it is done. Another thread that does not get the role posts a flush too. So whatever is written is sent by somebody.
/// </para>
/// </summary>
internal sealed partial class EpollSender
{
    private const int WriterSendsFromBytes = 32 * 1024;

    private const int Free = 0;
    private const int Taken = 1;
    private const int Wanted = 2;

    private readonly EpollConnection _connection;
    private readonly EpollOutput _output;
    private readonly Action<BorrowedSegments.Segment> _release;
    private int _role;

    // The role's.
    private SendRing? _others;
    private long _sent;
    private long _calls;

    // Set by whoever sends, or by the loop; never cleared.
    private volatile bool _failed;

    // As the connection is watched at first.
    private bool _awaitsWritable = true;

    private volatile bool _blocked;

    // The loop's: the socket's event has come. It counts until the role is taken, so also where another thread, which finds the socket
    // blocked, has it now.
    private bool _writable;

    // Set by a thread that has sent for the loop, cleared by the loop when it has received.
    private int _sentByWriter;

    public EpollSender(EpollConnection connection, EpollOutput output)
    {
        _connection = connection;
        _output = output;
        _release = output.Release;
    }

    public long BytesSent => Volatile.Read(ref _sent);

    public long SendCalls => Volatile.Read(ref _calls);

    public long Pending => _output.Written - Volatile.Read(ref _sent);

    /// <summary>Whether the socket has refused to take more and has not been writable since.</summary>
    public bool IsBlocked => _blocked;

    /// <summary>The loop has received: the next thread that writes while the loop sleeps may send by itself again.</summary>
    public void AllowSendByWriter()
    {
        if (_sentByWriter != 0)
        {
            Volatile.Write(ref _sentByWriter, 0);
        }
    }

    /// <summary>
    /// Sends on a thread that is not the loop's. False where the loop has to do it: it is awake and will without being woken, or
    /// this would be the second time since the loop last received: who sends message upon message gains more from a loop that is awake and
    /// sends them together. With <see cref="WriterSendsFromBytes"/> waiting, which every full chunk of a batch exceeds, the writer sends
    /// all the same: a system call for so much is no waste, waking the loop is, and the writer must not outrun it. While the socket is
    /// blocked there is nothing to request: its event makes the loop go on.
    /// </summary>
    public bool TrySendByWriter(EpollLoop loop)
    {
        if (_blocked && !_output.IsEnding)
        {
            // What was written comes before this reading, and the loop looks for it after it has cleared the mark: one of the two sees the
            // other.
            Interlocked.MemoryBarrier();
            if (_blocked)
            {
                return true;
            }
        }

        if (_blocked || _output.IsEnding || !IsWorthwhileByWriter(loop)
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

    // By a thread that is not the loop. Only while all that goes out before it is sent, as the loop's ring is the loop's alone. False where
    // something is left for the loop; where the socket is blocked, its event makes the loop go on.
    private bool SendOneRing()
    {
        long sentByLoop = _output.LoopRing.Sent;
        if (_output.WrittenByLoop != sentByLoop)
        {
            return false;
        }

        return (TryTakeOthers(sentByLoop) && !SendOthers()) || Pending == 0;
    }

    /// <summary>The socket takes bytes again; on the loop, before <see cref="SendOnLoop"/>.</summary>
    public void Writable() => _writable = true;

    /// <summary>Sends all there is, as far as the socket takes it; on the loop.</summary>
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
            _awaitsWritable = false;
            _connection.AwaitNoWritable();
        }

        Volatile.Write(ref _role, Free);
        Report(thrown);
    }

    /// <summary>
    /// Ends the send side for good and gives everything back; false where another thread is sending, which will post a flush.
    /// </summary>
    public bool TryFinish()
    {
        if (!TryTakeRole())
        {
            return false;
        }

        _output.Drop(_others);
        return true;
    }

    private bool IsWorthwhileByWriter(EpollLoop loop) =>
        Pending >= WriterSendsFromBytes || (loop.IsAsleep && Interlocked.Exchange(ref _sentByWriter, 1) == 0);

    // Not before the role is given back: memory that was lent may be gone, and what follows must not find its connection stuck.
    private void Report(Exception? thrown)
    {
        if (thrown is not null)
        {
            _connection.SendFault(thrown);
        }
    }

    // By the loop only.
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
