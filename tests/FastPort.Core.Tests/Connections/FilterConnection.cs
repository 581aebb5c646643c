using System.Net;
using FastPort.Connections;

namespace FastPort.Core.Tests.Connections;

/// <summary>
/// The smallest byte-stream filter: a connection towards the protocol above and a protocol towards the connection below. Where the upper
/// protocol pauses, the filter does, so that the lower connection holds the peer back. It holds its lock from the start of a write to the
/// end of the lower one, so the key is used in the order in which the lower connection sends.
/// </summary>
internal sealed class FilterConnection(Connection lower, FilterKey incoming, FilterKey outgoing) : Connection, IConnectionProtocol
{
    private readonly ArrayPoolCircularBuffer _plain = new(1024, 16 * 1024 * 1024);
    private readonly ArrayPoolCircularBuffer _output = new(1024, 16 * 1024 * 1024);

    // Guards the output ring and the end.
    private readonly Lock _gate = new();
    private bool _ended;
    private List<(Action<object?> Release, object? State)> _releases = [];

    public override EndPoint? RemoteEndPoint => lower.RemoteEndPoint;

    public override EndPoint? LocalEndPoint => lower.LocalEndPoint;

    public override long BytesReceived => lower.BytesReceived;

    public override long BytesSent => lower.BytesSent;

    public override long PendingBytes => lower.PendingBytes;

    public override bool IsSendBlocked => lower.IsSendBlocked;

    public override bool IsClosing => lower.IsClosing;

    public override bool IsOnLoop => lower.IsOnLoop;

    public override bool Post(Action<object?> callback, object? state) => lower.Post(callback, state);

    public override void PostAfter(TimeSpan delay, Action<object?> callback, object? state) => lower.PostAfter(delay, callback, state);

    public override ArrayPoolCircularBuffer? BeginWrite()
    {
        _gate.Enter();
        if (!_ended && !lower.IsClosing)
        {
            return _output;
        }

        _gate.Exit();
        return null;
    }

    public override void EndWrite()
    {
        if (lower.BeginWrite() is { } below)
        {
            Move(_output, below, outgoing);
            lower.EndWrite();
        }
        else
        {
            _output.Consume(_output.Length);
        }

        List<(Action<object?> Release, object? State)> releases = _releases;
        _releases = releases.Count == 0 ? releases : [];
        _gate.Exit();
        foreach ((Action<object?> release, object? state) in releases)
        {
            release(state);
        }
    }

    /// <summary>Every byte is changed on its way, so it is copied anyway and released as soon as the write section is left.</summary>
    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (!_output.TryReserve(memory.Length))
        {
            return false;
        }

        _output.Write(memory.Span);
        if (release is not null)
        {
            _releases.Add((release, state));
        }

        return true;
    }

    public override void Flush() => lower.Flush();

    public override void RequestTick() => lower.RequestTick();

    public override void NotifyWhenDrained(long pendingBytes) => lower.NotifyWhenDrained(pendingBytes);

    public override ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default) =>
        lower.WaitForRoomAsync(lowWater, cancellationToken);

    public override void ResumeReading() => lower.ResumeReading();

    public override void Close(CloseReason reason) => lower.Close(reason);

    public override void Abort(CloseReason reason) => lower.Abort(reason);

    public void OnOpened(Connection connection) => Protocol!.OnOpened(this);

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        Move(input, _plain, incoming);
        return Protocol!.OnReceived(_plain);
    }

    public void OnInputEnded(bool truncated) => Protocol!.OnInputEnded(truncated || !_plain.IsEmpty);

    public void OnOutputDrained() => Protocol!.OnOutputDrained();

    public void OnWriteTimeout(CloseReason reason) => Protocol!.OnWriteTimeout(reason);

    public long OnTick(long nowMilliseconds) => Protocol!.OnTick(nowMilliseconds);

    public void OnClosed(CloseReason reason)
    {
        _plain.Dispose();
        lock (_gate)
        {
            _ended = true;
            _output.Dispose();
        }

        Protocol!.OnClosed(reason);
        CompleteClosed(reason);
    }

    protected override void StartCore() => lower.Start(this);

    private static void Move(ArrayPoolCircularBuffer from, ArrayPoolCircularBuffer to, FilterKey key)
    {
        from.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        Append(first, to, key);
        Append(second, to, key);
        from.Consume(from.Length);
    }

    private static void Append(ReadOnlySpan<byte> bytes, ArrayPoolCircularBuffer to, FilterKey key)
    {
        if (bytes.IsEmpty)
        {
            return;
        }

        Span<byte> room = to.GetWritableSpan(bytes.Length);
        for (int i = 0; i < bytes.Length; i++)
        {
            room[i] = (byte)(bytes[i] ^ key.Next());
        }

        to.Advance(bytes.Length);
    }
}

/// <summary>What the bytes of one direction are changed with.</summary>
internal abstract class FilterKey
{
    /// <summary>The byte for the next one of the stream.</summary>
    public abstract byte Next();
}

/// <summary>The same for all bytes: their order does not matter.</summary>
internal sealed class ConstantKey(byte key) : FilterKey
{
    public override byte Next() => key;
}

/// <summary>
/// A key stream that runs on with every byte, as a cipher's does: two pieces in the wrong order are both spoilt, and all that follows.
/// </summary>
internal sealed class RunningKey(uint seed) : FilterKey
{
    private uint _state = seed;

    public override byte Next()
    {
        _state = (_state * 1664525) + 1013904223;
        return (byte)(_state >> 24);
    }
}
