using System.Buffers;
using System.Net;
using System.Text;
using FastPort.Connections;

namespace FastPort.Core.Tests.Hosting;

/// <summary>A stage as the PROXY protocol needs it: the peer's address stands in a first line, <c>from ADDRESS</c>, and the rest is the
/// protocol's.</summary>
internal sealed class HeaderConnection(Connection lower) : Connection, IConnectionProtocol
{
    private readonly TaskCompletionSource _header = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private IPEndPoint? _remote;

    // Loop only: the protocol above has been opened.
    private bool _open;

    public override EndPoint? RemoteEndPoint => _remote ?? lower.RemoteEndPoint;

    public override EndPoint? LocalEndPoint => lower.LocalEndPoint;

    public override long BytesReceived => lower.BytesReceived;

    public override long BytesSent => lower.BytesSent;

    public override long PendingBytes => lower.PendingBytes;

    public override bool IsOnLoop => lower.IsOnLoop;

    public override bool IsSendBlocked => lower.IsSendBlocked;

    public override bool IsClosing => lower.IsClosing;

    public static async ValueTask<Connection?> StageAsync(Connection lower, CancellationToken cancellationToken)
    {
        var connection = new HeaderConnection(lower);
        lower.Start(connection);
        await connection._header.Task.WaitAsync(cancellationToken);
        return connection;
    }

    public override ArrayPoolCircularBuffer? BeginWrite() => lower.BeginWrite();

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        lower.TryWriteBorrowed(memory, release, state);

    public override void EndWrite() => lower.EndWrite();

    public override void Flush() => lower.Flush();

    public override void NotifyWhenDrained(long pendingBytes) => lower.NotifyWhenDrained(pendingBytes);

    public override ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default) =>
        lower.WaitForRoomAsync(lowWater, cancellationToken);

    public override void ResumeReading() => lower.ResumeReading();

    public override void Close(CloseReason reason) => lower.Close(reason);

    public override void Abort(CloseReason reason) => lower.Abort(reason);

    public override void RequestTick() => lower.RequestTick();

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        if (_open)
        {
            return Protocol!.OnReceived(input);
        }

        string text = Encoding.ASCII.GetString(input.GetReadableSequence(0, input.Length).ToArray());
        int end = text.IndexOf('\n', StringComparison.Ordinal);
        if (end < 0)
        {
            return ReceiveOutcome.Continue;
        }

        input.Consume(end + 1);
        if (IPAddress.TryParse(text[..end]["from ".Length..], out IPAddress? address))
        {
            _remote = new IPEndPoint(address, 1);
            _header.TrySetResult();
        }
        else
        {
            _header.TrySetException(new FormatException("no address"));
        }

        // What follows waits for the protocol.
        return ReceiveOutcome.Pause;
    }

    public void OnInputEnded(bool truncated)
    {
        if (_open)
        {
            Protocol!.OnInputEnded(truncated);
        }
        else
        {
            lower.Close(CloseReason.PeerTruncated);
        }
    }

    public void OnOutputDrained() => Protocol?.OnOutputDrained();

    public override bool Post(Action<object?> callback, object? state) => lower.Post(callback, state);

    public override void PostAfter(TimeSpan delay, Action<object?> callback, object? state) => lower.PostAfter(delay, callback, state);

    public long OnTick(long nowMilliseconds) => _open ? Protocol!.OnTick(nowMilliseconds) : ConnectionClock.Never;

    public void OnClosed(CloseReason reason)
    {
        _header.TrySetException(new IOException(reason.Message));
        Protocol?.OnClosed(reason);
        CompleteClosed(reason);
    }

    protected override void StartCore()
    {
        lower.Post(
            static state =>
            {
                var connection = (HeaderConnection)state!;
                connection._open = true;
                connection.Protocol!.OnOpened(connection);
                connection.RequestTick();
                connection.ResumeReading();
            },
            this);
    }
}
