namespace FastPort.Transports.Epoll;

/// <content>
/// The reader: a second thread that sleeps in the receive of the one connection for which the loop has woken up again and again. It saves the wait before each
/// receive, one of three system calls. The loop's own thread goes on waiting for everything else.
/// <para>
/// Whichever of the two wakes up takes the turn (<see cref="_turn"/>), and with it all that is the loop's: as ever one thread at a time is the loop. While it sleeps
/// the reader owns its connection's input and nothing else. The loop's own thread waits for the reader's present round, if need be, and the reader for nobody: what it
/// has received while the other is at work it leaves to that one. In both cases the connection goes back to the loop, as two that are busy at once are better served by one
/// wait for both.
/// </para>
/// </content>
internal sealed partial class EpollLoop
{
    // No connection is with the reader: the loop is its own thread.
    private const int Alone = 0;

    // Both sleep in the kernel.
    private const int Nobodys = 1;
    private const int Readers = 2;
    private const int Own = 3;

    // The reader's, and the loop's own thread waits for its end.
    private const int Claimed = 4;

    private readonly AutoResetEvent _readerMayGo = new(initialState: false);
    private readonly AutoResetEvent _turnIsOver = new(initialState: false);
    private Thread? _reader;
    private GiveBackTask? _giveBack;
    private int _turn;

    // The reader's connection; written before the reader is woken.
    private EpollConnection? _direct;

    // By the loop's own thread, alone and about to sleep.
    private bool TryGiveToReader()
    {
        if (_last is null || _waitsForLast < _options.WaitsBeforeDirect || !_waiting.IsFreeToSleep)
        {
            return false;
        }

        _waitsForLast = 0;
        if (!_last.CanBeDirect || !TryStartReader() || !_last.TryBeginDirect())
        {
            return false;
        }

        _direct = _last;
        Volatile.Write(ref _turn, Own);
        _readerMayGo.Set();
        return true;
    }

    private bool TryStartReader()
    {
        if (_reader is not null)
        {
            return true;
        }

        try
        {
            _giveBack ??= new GiveBackTask(this);
            var reader = new Thread(RunReader) { IsBackground = true, Name = $"FastPort loop {_index}, reader" };
            reader.Start();
            _reader = reader;
            return true;
        }
        catch (OutOfMemoryException)
        {
            // The system has no thread left; the loop does without.
            return false;
        }
    }

    // The loop's own thread, whose turn it is: sleeps without it, and has it again afterwards.
    private int WaitForTurn(int timeout)
    {
        Volatile.Write(ref _turn, Nobodys);
        int count = _events.Wait(_epoll, timeout);
        while (true)
        {
            switch (Volatile.Read(ref _turn))
            {
                case Alone:
                    return count;
                case Nobodys when Interlocked.CompareExchange(ref _turn, Own, Nobodys) == Nobodys:
                    return count;
                case Readers when Interlocked.CompareExchange(ref _turn, Claimed, Readers) == Readers:
                    _turnIsOver.WaitOne();
                    return count;
            }
        }
    }

    private void RunReader()
    {
        Current = this;
        if (_options.PinLoops)
        {
            Cores.PinCurrentThread(_index);
        }

        while (true)
        {
            _readerMayGo.WaitOne();
            if (_stopped)
            {
                return;
            }

            ReadFor(_direct!);
        }
    }

    // Until the connection is the loop's again.
    private void ReadFor(EpollConnection connection)
    {
        while (true)
        {
            int received = connection.ReceiveDirectly();
            if (Interlocked.CompareExchange(ref _turn, Readers, Nobodys) != Nobodys)
            {
                _giveBack!.Received = received;
                Post(_giveBack);
                return;
            }

            Volatile.Write(ref _asleep, 0);
            _waiting.Woken();
            Received(connection, received);
            if (!TryGoOn(connection))
            {
                GiveBack(connection);
                return;
            }
        }
    }

    // The reader's turn: true where it has ended it and may sleep again.
    private bool TryGoOn(EpollConnection connection)
    {
        for (int round = 0; ; round++)
        {
            RunRound();
            if (_stopped || _unfinished.Count != 0 || !connection.CanBeDirect)
            {
                return false;
            }

            // A full fence: see Post.
            Interlocked.Exchange(ref _asleep, 1);
            if (_inbox.IsEmpty)
            {
                break;
            }

            // What is posted while it works is done with it, once. Who goes on posting has the loop's own thread do it: only that one looks at all connections meanwhile.
            Volatile.Write(ref _asleep, 0);
            if (round != 0 || Volatile.Read(ref _turn) == Claimed)
            {
                return false;
            }
        }

        if (_waiting.TryBegin())
        {
            // What comes comes so soon that spinning pays; only the loop's own thread does.
            _waiting.EndSpin();
            return false;
        }

        return connection.TryGoOnDirectly() && Interlocked.CompareExchange(ref _turn, Nobodys, Readers) == Readers;
    }

    private void Received(EpollConnection connection, int received)
    {
        try
        {
            connection.ReceivedDirectly(received);
        }
        catch (Exception e)
        {
            // As in Ready.
            TransportLog.LoopFault(_logger, _index, e);
        }
    }

    // By the reader, whose turn it is.
    private void GiveBack(EpollConnection connection)
    {
        connection.EndDirect();
        _direct = null;
        if (Interlocked.Exchange(ref _turn, Alone) == Claimed)
        {
            _turnIsOver.Set();
        }
        else
        {
            // There may be something left to do.
            Wake();
        }
    }

    // What the reader has received during the other's turn.
    private sealed class GiveBackTask(EpollLoop loop) : ILoopTask
    {
        public ILoopTask? Next { get; set; }

        public int Received { get; set; }

        public void RunOnLoop()
        {
            EpollConnection connection = loop._direct!;
            loop._direct = null;
            Volatile.Write(ref loop._turn, Alone);
            loop.Received(connection, Received);
            connection.EndDirect();
        }
    }
}
