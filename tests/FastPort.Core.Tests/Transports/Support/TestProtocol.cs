using System.Collections.Concurrent;
using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>
/// A protocol that does what a test says and notes what it is told: collects all bytes unless <see cref="OnBytes"/> is set, and closes when
/// the peer's side has ended unless <see cref="StaysOpen"/> is. It also watches the transport: all calls come on the loop, one at a time,
/// and none after the last.
/// </summary>
internal sealed class TestProtocol : IConnectionProtocol
{
    private readonly MemoryStream _received = new();
    private readonly ConcurrentQueue<string> _misuse = new();
    private readonly ConcurrentQueue<bool> _ends = new();
    private readonly TaskCompletionSource<CloseReason> _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TaskCompletionSource? _drained;
    private long _receivedBytes;
    private int _inside;
    private int _bursts;
    private int _drains;
    private int _ticks;
    private int _writeTimeouts;

    /// <summary>The connection: set before it is started, as a program that starts one has it at once.</summary>
    public Connection Connection { get; set; } = null!;

    /// <summary>What to do with the unread bytes. Defaults to collecting them.</summary>
    public Func<ArrayPoolCircularBuffer, ReceiveOutcome>? OnBytes { get; set; }

    /// <summary>Further actions; what they throw is thrown to the transport.</summary>
    public Action? Opened { get; init; }

    public Action? Ticked { get; init; }

    /// <summary>
    /// What it answers to a tick. Defaults to never: what the transport has to watch it watches without the protocol's asking.
    /// </summary>
    public long NextTick { get; init; } = ConnectionClock.Never;

    public Action? Ended { get; init; }

    public Action? Drained { get; init; }

    /// <summary>The last call.</summary>
    public Action? Over { get; init; }

    public bool StaysOpen { get; init; }

    public Task<CloseReason> Closed => _closed.Task;

    /// <summary>Ends when OnOpened is called.</summary>
    public Task WhenOpened => _opened.Task;

    /// <summary>Calls of OnReceived.</summary>
    public int Bursts => Volatile.Read(ref _bursts);

    /// <summary>Calls of OnOutputDrained.</summary>
    public int Drains => Volatile.Read(ref _drains);

    public int Ticks => Volatile.Read(ref _ticks);

    /// <summary>Calls of OnWriteTimeout.</summary>
    public int WriteTimeouts => Volatile.Read(ref _writeTimeouts);

    /// <summary>Each call of OnInputEnded, with what it said.</summary>
    public IReadOnlyList<bool> Ends => [.. _ends];

    /// <summary>What the transport did wrong.</summary>
    public IReadOnlyList<string> Misuse => [.. _misuse];

    /// <summary>Bytes collected.</summary>
    public long ReceivedBytes => Volatile.Read(ref _receivedBytes);

    public byte[] Received
    {
        get
        {
            lock (_received)
            {
                return _received.ToArray();
            }
        }
    }

    /// <summary>Sends back what comes. Not for more than fits at once.</summary>
    public static TestProtocol Echo()
    {
        var echo = new TestProtocol();
        echo.OnBytes = input =>
        {
            byte[] bytes = new byte[input.Length];
            input.CopyTo(0, bytes);
            input.Consume(bytes.Length);
            Assert.True(echo.TryWrite(bytes));
            return ReceiveOutcome.Continue;
        };
        return echo;
    }

    void IConnectionProtocol.OnOpened(Connection connection)
    {
        Connection = connection;
        _opened.TrySetResult();
        OnLoop(() => Opened?.Invoke());
    }

    ReceiveOutcome IConnectionProtocol.OnReceived(ArrayPoolCircularBuffer input)
    {
        var outcome = ReceiveOutcome.Continue;
        Interlocked.Increment(ref _bursts);
        OnLoop(() => outcome = OnBytes is { } act ? act(input) : Collect(input));
        return outcome;
    }

    void IConnectionProtocol.OnInputEnded(bool truncated)
    {
        _ends.Enqueue(truncated);
        OnLoop(() => Ended?.Invoke());
        if (!StaysOpen)
        {
            Connection.Close(truncated ? CloseReason.PeerTruncated : CloseReason.PeerClosed);
        }
    }

    void IConnectionProtocol.OnOutputDrained()
    {
        Interlocked.Increment(ref _drains);
        OnLoop(() => Drained?.Invoke());
        Interlocked.Exchange(ref _drained, null)?.TrySetResult();
    }

    long IConnectionProtocol.OnTick(long nowMilliseconds)
    {
        Interlocked.Increment(ref _ticks);
        OnLoop(() => Ticked?.Invoke());
        return NextTick;
    }

    void IConnectionProtocol.OnWriteTimeout(CloseReason reason)
    {
        Interlocked.Increment(ref _writeTimeouts);
        OnLoop(static () => { });
    }

    void IConnectionProtocol.OnClosed(CloseReason reason)
    {
        OnLoop(() => Over?.Invoke());
        if (!_closed.TrySetResult(reason))
        {
            _misuse.Enqueue("OnClosed was called twice.");
        }

        Interlocked.Exchange(ref _drained, null)?.TrySetResult();
    }

    /// <summary>Takes all unread bytes into <see cref="Received"/>.</summary>
    public ReceiveOutcome Collect(ArrayPoolCircularBuffer input)
    {
        lock (_received)
        {
            while (!input.IsEmpty)
            {
                ReadOnlySpan<byte> span = input.FirstReadableSpan;
                _received.Write(span);
                Volatile.Write(ref _receivedBytes, _receivedBytes + span.Length);
                input.Consume(span.Length);
            }
        }

        return ReceiveOutcome.Continue;
    }

    /// <summary>Takes so many unread bytes of the first piece into <see cref="Received"/>.</summary>
    public void CollectSome(ArrayPoolCircularBuffer input, int count)
    {
        lock (_received)
        {
            _received.Write(input.FirstReadableSpan[..count]);
        }

        Volatile.Write(ref _receivedBytes, _receivedBytes + count);
        input.Consume(count);
    }

    /// <summary>Writes all of it or, where it does not fit or nothing can be sent any more, nothing. Does not flush.</summary>
    public bool TryWrite(ReadOnlySpan<byte> bytes)
    {
        ArrayPoolCircularBuffer? ring = Connection.BeginWrite();
        if (ring is null)
        {
            return false;
        }

        try
        {
            if (!ring.TryReserve(bytes.Length))
            {
                return false;
            }

            ring.Write(bytes);
            return true;
        }
        finally
        {
            Connection.EndWrite();
        }
    }

    /// <summary>Lends memory; false where there is no room.</summary>
    public bool TryLend(ReadOnlyMemory<byte> bytes, Action<object?>? release, object? state)
    {
        if (Connection.BeginWrite() is null)
        {
            return false;
        }

        bool lent = Connection.TryWriteBorrowed(bytes, release, state);
        Connection.EndWrite();
        return lent;
    }

    /// <summary>
    /// Sends all of it in pieces, waiting for room between them; false where the connection ended before. One caller at a time.
    /// </summary>
    public async Task<bool> SendAsync(ReadOnlyMemory<byte> bytes, int piece = 16 * 1024)
    {
        while (!bytes.IsEmpty)
        {
            ReadOnlyMemory<byte> next = bytes[..Math.Min(piece, bytes.Length)];
            if (TryWrite(next.Span))
            {
                Connection.Flush();
                bytes = bytes[next.Length..];
            }
            else if (Connection.IsClosing)
            {
                return false;
            }
            else
            {
                await DrainedAsync(0).InTimeAsync();
            }
        }

        return true;
    }

    /// <summary>Waits until no more than so many bytes wait to be sent, or the connection is over.</summary>
    public Task DrainedAsync(long pendingBytes)
    {
        var drained = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Interlocked.Exchange(ref _drained, drained);
        if (_closed.Task.IsCompleted)
        {
            drained.TrySetResult();
        }

        Connection.NotifyWhenDrained(pendingBytes);
        return drained.Task;
    }

    public Task ReceivedAsync(long bytes) => Patience.UntilAsync(() => ReceivedBytes >= bytes, $"{bytes} bytes were received");

    public async Task<CloseReason> ClosedAsync()
    {
        CloseReason reason = await Closed.InTimeAsync();
        Assert.Equal(reason, await Connection.Closed.InTimeAsync());
        return reason;
    }

    private void OnLoop(Action action)
    {
        if (Interlocked.Exchange(ref _inside, 1) != 0)
        {
            _misuse.Enqueue("Two calls on the loop at the same time.");
        }

        if (!Connection.IsOnLoop)
        {
            _misuse.Enqueue("A call on another thread than the loop.");
        }

        if (_closed.Task.IsCompleted)
        {
            _misuse.Enqueue("A call on the loop after OnClosed.");
        }

        try
        {
            action();
        }
        finally
        {
            Volatile.Write(ref _inside, 0);
        }
    }
}
