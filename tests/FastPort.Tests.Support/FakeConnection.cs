using System.Net;
using FastPort.Connections;
using FastPort.Sessions.Receiving;

namespace FastPort.Tests.Support;

/// <summary>
/// A connection without a peer that notes when the clock visits it. What is flushed counts as sent at once, what it receives a test says.
/// </summary>
internal sealed class FakeConnection(ConnectionClock clock) : Connection
{
    private readonly ArrayPoolCircularBuffer _input = new(1024, 1024 * 1024);
    private readonly ArrayPoolCircularBuffer _output = new(1024, 1024 * 1024);
    private readonly List<long> _visits = [];
    private readonly Queue<(Action<object?> Callback, object? State)> _posted = [];
    private long _received;
    private long _sent;

    /// <summary>The clock's readings at its visits.</summary>
    public IReadOnlyList<long> Visits => _visits;

    /// <summary>What to do at a visit and when to come again. Defaults to asking the protocol.</summary>
    public Func<long, long>? Visited { get; set; }

    /// <summary>The type of each frame that was flushed, where frames are what is written.</summary>
    public List<ushort> SentTypes { get; } = [];

    /// <summary>Each frame that was flushed.</summary>
    public List<byte[]> SentFrames { get; } = [];

    /// <summary>What the protocol said of what it was offered last.</summary>
    public ReceiveOutcome Outcome { get; private set; }

    /// <summary>Flushes that found something to send.</summary>
    public int Flushes { get; private set; }

    /// <summary>Calls of <see cref="ResumeReading"/>.</summary>
    public int Resumes { get; private set; }

    public CloseReason? Reason { get; private set; }

    /// <summary>Whether it was aborted, rather than closed.</summary>
    public bool IsAborted { get; private set; }

    public override EndPoint? RemoteEndPoint => null;

    public override EndPoint? LocalEndPoint => null;

    public override long BytesReceived => _received;

    public override long BytesSent => _sent;

    public override long PendingBytes => _output.Length;

    public override bool IsSendBlocked => false;

    public override bool IsClosing => Reason is not null;

    /// <summary>The thread of the event loop. Defaults to null: every thread counts as the loop, and calls come one at a time.</summary>
    public Thread? Loop { get; set; }

    public override bool IsOnLoop => Loop is null || Loop == Thread.CurrentThread;

    /// <summary>Whether other threads have posted calls that wait for <see cref="RunPosted"/>.</summary>
    public bool HasPosted => _posted.Count != 0;

    public override bool Post(Action<object?> callback, object? state)
    {
        if (IsClosing)
        {
            return false;
        }

        if (IsOnLoop)
        {
            callback(state);
        }
        else
        {
            _posted.Enqueue((callback, state));
        }

        return true;
    }

    /// <summary>Makes the calls that other threads have posted. On the loop.</summary>
    public void RunPosted()
    {
        while (_posted.TryDequeue(out (Action<object?> Callback, object? State) call))
        {
            call.Callback(call.State);
        }
    }

    public override void PostAfter(TimeSpan delay, Action<object?> callback, object? state) =>
        clock.PostAfter(delay, this, callback, state);

    public void Receive(byte[] bytes)
    {
        Arrive(bytes);
        Offer();
    }

    /// <summary>The first half of <see cref="Receive"/>: bytes are there that the protocol has not been offered yet.</summary>
    public void Arrive(byte[] bytes)
    {
        _input.Write(bytes);
        _received += bytes.Length;
    }

    /// <summary>The second half.</summary>
    public void Offer()
    {
        Outcome = Protocol!.OnReceived(_input);
        Flush();
    }

    public override ArrayPoolCircularBuffer? BeginWrite() => IsClosing ? null : _output;

    public override void EndWrite()
    {
    }

    internal override bool TryEndWrite() => !IsClosing;

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) => false;

    public override void Flush()
    {
        RequestTick();
        Flushes += _output.IsEmpty ? 0 : 1;
        while (!_output.IsEmpty)
        {
            byte[] head = new byte[4];
            _output.CopyTo(0, head);
            int length = 4 + BitConverter.ToInt32(head);
            byte[] frame = new byte[length];
            _output.CopyTo(0, frame);
            SentTypes.Add(BitConverter.ToUInt16(frame, 4));
            SentFrames.Add(frame);
            _output.Consume(length);
            _sent += length;
        }
    }

    public override void NotifyWhenDrained(long pendingBytes)
    {
    }

    public override ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default) => new(!IsClosing);

    public override void ResumeReading() => Resumes++;

    public override void Close(CloseReason reason)
    {
        if (Reason is null)
        {
            // A connection sends what was written before it closes; one that is aborted does not.
            if (Protocol is FrameProtocol)
            {
                Flush();
            }

            End(reason);
        }
    }

    public override void Abort(CloseReason reason)
    {
        IsAborted |= Reason is null;
        End(reason);
    }

    private void End(CloseReason reason)
    {
        if (Reason is null)
        {
            Reason = reason;
            if (IsOnLoop)
            {
                EndOnLoop();
            }
            else
            {
                _posted.Enqueue((static connection => ((FakeConnection)connection!).EndOnLoop(), this));
            }
        }
    }

    private void EndOnLoop()
    {
        RunPosted();
        clock.Remove(this);
        Protocol?.OnClosed(Reason!);
    }

    protected override void StartCore()
    {
        Protocol!.OnOpened(this);
        clock.Add(this);
    }

    internal override long Tick(long nowMilliseconds, bool requested)
    {
        _visits.Add(nowMilliseconds);
        if (Visited is not null)
        {
            return Visited(nowMilliseconds);
        }

        long due = Protocol!.OnTick(nowMilliseconds);
        return Protocol is ILoopWatch watch ? Math.Min(due, watch.Watch(nowMilliseconds)) : due;
    }
}
