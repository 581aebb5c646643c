using System.Net;
using FastPort.Connections;

namespace FastPort.Fuzz;

/// <summary>A connection whose bytes come from an input, and whose output is dropped. Everything runs on the calling thread.</summary>
internal sealed class SinkConnection(ConnectionClock clock) : Connection
{
    private readonly ArrayPoolCircularBuffer _input = new(1024, 4 * 1024 * 1024);
    private readonly ArrayPoolCircularBuffer _output = new(1024, 64 * 1024 * 1024);
    private long _received;
    private long _sent;
    private bool _paused;

    public CloseReason? Reason { get; private set; }

    public override EndPoint? RemoteEndPoint => null;

    public override EndPoint? LocalEndPoint => null;

    public override long BytesReceived => _received;

    public override long BytesSent => _sent;

    public override long PendingBytes => _output.Length;

    public override bool IsSendBlocked => false;

    public override bool IsClosing => Reason is not null;

    public override bool IsOnLoop => true;

    public void Receive(byte[] bytes)
    {
        if (!_input.TryReserve(bytes.Length))
        {
            return;
        }

        _input.Write(bytes);
        _received += bytes.Length;
        if (!_paused)
        {
            _paused = Protocol!.OnReceived(_input) == ReceiveOutcome.Pause;
            Flush();
        }
    }

    public override bool Post(Action<object?> callback, object? state)
    {
        if (IsClosing)
        {
            return false;
        }

        callback(state);
        return true;
    }

    public override void PostAfter(TimeSpan delay, Action<object?> callback, object? state) =>
        clock.PostAfter(delay, this, callback, state);

    public override ArrayPoolCircularBuffer? BeginWrite() => IsClosing ? null : _output;

    public override void EndWrite()
    {
    }

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) => false;

    public override void Flush()
    {
        _sent += _output.Length;
        _output.Consume(_output.Length);
    }

    public override void NotifyWhenDrained(long pendingBytes)
    {
    }

    public override ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default) => new(!IsClosing);

    public override void ResumeReading() => _paused = false;

    public override void Close(CloseReason reason)
    {
        if (Reason is null)
        {
            Reason = reason;
            Protocol?.OnClosed(reason);
        }
    }

    public override void Abort(CloseReason reason) => Close(reason);

    protected override void StartCore() => Protocol!.OnOpened(this);
}
