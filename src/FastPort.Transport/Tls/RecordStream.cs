using System.Diagnostics;
using System.Threading.Tasks.Sources;
using FastPort.Connections;

namespace FastPort.Tls;

/// <summary>
/// The encrypted bytes below an <see cref="System.Net.Security.SslStream"/>: what it writes goes to the connection below, what it reads
/// comes from there. No call blocks.
/// <para>
/// During the handshake the stream copies what arrives, and a read that waited continues at <see cref="HandshakeWorkers"/>: handshakes
/// compute off the loops. From <see cref="BeginData"/> on only the loop reads, straight from the connection's ring, and a read that waited
/// continues within <see cref="Offer"/>. <see cref="_gate"/> guards the fields of reading; one thread at a time writes.
/// </para>
/// </summary>
internal sealed class RecordStream(Connection below, HandshakeWorkers workers) : UnseekableStream, IValueTaskSource<int>, IHandshakeStep
{
    // The messages of a handshake are a few KiB; long chains of certificates have some tens.
    private const int MaxCollected = 64 * 1024;

    /// <summary>
    /// Records after which the loop's other connections have their turn, in however many receives they came. To decrypt one takes as long
    /// for a byte of data as for some hundred, and a receive may have 20,000 such records, which no turn of the protocol counts. Full
    /// records are 4 MiB then.
    /// </summary>
    internal const int RecordsPerTurn = 256;

    private readonly Lock _gate = new();
    private readonly ArrayPoolCircularBuffer _collected = new(1024, MaxCollected, below.MessagePool);
    private readonly RecordAccount _account = new();
    private ManualResetValueTaskSourceCore<int> _read;
    private Memory<byte> _waiting;
    private ArrayPoolCircularBuffer? _input;
    private IOException? _failure;
    private int _result;
    private int _recordsLeft = RecordsPerTurn;
    private bool _isWaiting;
    private bool _isData;
    private bool _isEnded;
    private bool _hasReceived;
    private long _written;

    /// <summary>Whether a read has come to the end of the peer's stream. In data, for the loop only.</summary>
    public bool HasReadEnd { get; private set; }

    /// <summary>Whether the peer has sent a byte during the handshake.</summary>
    public bool HasReceived => Volatile.Read(ref _hasReceived);

    /// <summary>Whether as many records were read as a turn may have: reads wait for the next one. In data, for the loop only.</summary>
    public bool IsTurnOver => _recordsLeft == 0;

    /// <summary>Bytes ever handed to the connection below.</summary>
    public long Written => Volatile.Read(ref _written);

    public override bool CanRead => true;

    public override bool CanWrite => true;

    /// <summary>During the handshake: takes the bytes of a burst; on the loop. False if some wait in the ring for a later call.</summary>
    public bool TryCollect(ArrayPoolCircularBuffer input)
    {
        lock (_gate)
        {
            // A proxy's header before it leaves an empty ring.
            _hasReceived |= !input.IsEmpty;
            if (_failure is not null)
            {
                input.Consume(input.Length);
                return true;
            }

            int count = Math.Min(input.Length, MaxCollected - _collected.Length);
            foreach (ReadOnlyMemory<byte> piece in input.GetReadableSequence(0, count))
            {
                _collected.Write(piece.Span);
            }

            input.Consume(count);
        }

        Continue();
        return input.IsEmpty;
    }

    /// <summary>The handshake is over: from now on only the loop reads.</summary>
    /// <param name="overhead">See <see cref="TlsProtocols.Overhead"/>.</param>
    public void BeginData(int overhead)
    {
        lock (_gate)
        {
            _isData = true;
            _account.Begin(overhead);
            _recordsLeft = RecordsPerTurn;
            _collected.TryReleaseWhenEmpty();
        }
    }

    /// <summary>Bytes of the protocol were decrypted; on the loop.</summary>
    public void Decrypted(int count) => _account.Decrypted(count);

    /// <summary>Begins the next turn; on the loop.</summary>
    public void BeginTurn()
    {
        _recordsLeft = RecordsPerTurn;
        Continue();
    }

    /// <summary>Offers a burst to a reader until <see cref="Withdraw"/>; on the loop.</summary>
    public void Offer(ArrayPoolCircularBuffer input)
    {
        _input = input;
        Continue();
    }

    /// <summary>The burst is over: its ring must not be read any more.</summary>
    public void Withdraw() => _input = null;

    /// <summary>No more bytes will come: the peer's stream has ended.</summary>
    public void End()
    {
        lock (_gate)
        {
            _isEnded = true;
        }

        Continue();
    }

    /// <summary>The connection has ended: reads fail, and the collected bytes are dropped.</summary>
    public void Fail(string message)
    {
        lock (_gate)
        {
            _failure ??= new IOException(message);
            _collected.Dispose();
        }

        Continue();
    }

    // A read that waited during the handshake.
    void IHandshakeStep.Run() => Finish(_result);

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ValueTask<int> read;
        lock (_gate)
        {
            // A handshake computes on a worker only, also if the peer's bytes were there first.
            if ((_isData || HandshakeWorkers.IsWorker) && TryTake(buffer, out int count))
            {
                return _failure is null ? new ValueTask<int>(count) : ValueTask.FromException<int>(_failure);
            }

            _waiting = buffer;
            _isWaiting = true;
            _read.Reset();
            read = new ValueTask<int>(this, _read.Version);
            if (_isData || HandshakeWorkers.IsWorker)
            {
                return read;
            }
        }

        Continue();
        return read;
    }

    // A closing connection accepts no more bytes; it ends, and every reader is notified.
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (below.BeginWrite() is not { } ring)
        {
            return;
        }

        try
        {
            ring.Write(buffer);
        }
        finally
        {
            below.EndWrite();
        }

        Volatile.Write(ref _written, _written + buffer.Length);
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        Write(buffer.AsSpan(offset, count));
        return Task.CompletedTask;
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    // The handshake flushes after each of its flights, and the end of a session after its last record.
    public override void Flush() => below.Flush();

    public override Task FlushAsync(CancellationToken cancellationToken)
    {
        below.Flush();
        return Task.CompletedTask;
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Reading is asynchronous only.");

    int IValueTaskSource<int>.GetResult(short token) => _read.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _read.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _read.OnCompleted(continuation, state, token, flags);

    // Resumes a read for which there are bytes now.
    private void Continue()
    {
        int count;
        bool isData;
        lock (_gate)
        {
            if (!_isWaiting || !TryTake(_waiting, out count))
            {
                return;
            }

            _isWaiting = false;
            _waiting = default;
            _result = count;
            isData = _isData;
        }

        if (isData)
        {
            Finish(count);
        }
        else
        {
            workers.Add(this);
        }
    }

    private void Finish(int count)
    {
        if (_failure is { } failure)
        {
            _read.SetException(failure);
        }
        else
        {
            _read.SetResult(count);
        }
    }

    // Under the gate. False if the read has to wait. An empty buffer asks whether there is anything to read.
    private bool TryTake(Memory<byte> buffer, out int count)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        count = 0;
        if (_failure is not null)
        {
            return true;
        }

        ArrayPoolCircularBuffer? from = _collected.IsEmpty ? _input : _collected;
        if (from is null || from.IsEmpty)
        {
            HasReadEnd |= _isEnded;
            return _isEnded;
        }

        if (_isData && _account.Settle() > RecordAccount.Most)
        {
            _failure = new IOException($"the peer sent more than {RecordAccount.Most} bytes besides data in TLS records");
            return true;
        }

        if (_isData && _recordsLeft == 0)
        {
            return false;
        }

        count = Math.Min(Math.Min(from.Length, buffer.Length), _account.Room);
        from.CopyTo(0, buffer.Span[..count]);
        int records = _isData ? _recordsLeft : int.MaxValue;
        count = _account.Pass(buffer.Span[..count], ref records);
        _recordsLeft = records;
        from.Consume(count);
        if (_isData && ReferenceEquals(from, _collected))
        {
            _collected.TryReleaseWhenEmpty();
        }

        return true;
    }
}
