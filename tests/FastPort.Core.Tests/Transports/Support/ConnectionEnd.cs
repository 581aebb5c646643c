using FastPort.Connections;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>
/// A raw end for links that have no sockets: a connection that reads only what a test asks for. To end its side it closes, and then it
/// reads no more.
/// </summary>
internal sealed class ConnectionEnd : RawEnd, IConnectionProtocol
{
    private readonly MemoryStream _received = new();
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Connection _connection = null!;
    private int _read;

    // Guarded by _received: bytes that may be taken, all in all, and who waits for them.
    private long _wanted;
    private TaskCompletionSource? _there;

    public override bool ReadsAfterShutdown => false;

    public override Task Over => _connection.Closed;

    public static async Task<RawEnd> ConnectAsync(TestLink link, bool takesLittle)
    {
        ConnectionSettings settings = link.Settings with
        {
            MaxSendBytes = 4 * 1024 * 1024,
            DrainTimeout = TimeSpan.FromMinutes(1),
            WriteTimeout = TimeSpan.Zero,
        };
        ITransportConnector connector = link.Transport.CreateConnector(link.Endpoint, settings);
        var end = new ConnectionEnd();
        Connection connection = await connector.ConnectAsync(Patience.Token);
        end._connection = connection;
        connection.Start(end);
        return end;
    }

    public override async Task SendAsync(byte[] bytes)
    {
        while (true)
        {
            if (_connection.BeginWrite() is not { } ring)
            {
                throw new InvalidOperationException("Nothing can be sent any more.");
            }

            bool fits = ring.TryReserve(bytes.Length);
            if (fits)
            {
                ring.Write(bytes);
            }

            _connection.EndWrite();
            _connection.Flush();
            if (fits)
            {
                return;
            }

            await _connection.WaitForRoomAsync(0, Patience.Token);
        }
    }

    public override async Task<byte[]> ReadAsync(int count)
    {
        await WantAsync(count).InTimeAsync();
        lock (_received)
        {
            Assert.True(_received.Length >= _read + count, $"The link ended after {_received.Length - _read} of {count} bytes.");
            byte[] bytes = _received.GetBuffer()[_read..(_read + count)];
            _read += count;
            return bytes;
        }
    }

    public override async Task ExpectEndAsync()
    {
        await ExpectGoneAsync();
        Assert.NotEqual(CloseKind.ConnectionLost, _connection.Closed.IsCompleted ? (await _connection.Closed).Kind : CloseKind.PeerClosed);
    }

    public override async Task ExpectGoneAsync()
    {
        _ = WantAsync(int.MaxValue);
        await Task.WhenAny(_ended.Task, _connection.Closed).InTimeAsync();
        lock (_received)
        {
            Assert.Equal(_read, _received.Length);
        }
    }

    public override void ShutdownSend() => _connection.Close(CloseReason.PeerClosed);

    public override void Reset() => _connection.Abort(CloseReason.LocalClosed);

    public override void Dispose() => _connection.Abort(CloseReason.LocalClosed);

    void IConnectionProtocol.OnOpened(Connection connection) => _connection = connection;

    ReceiveOutcome IConnectionProtocol.OnReceived(ArrayPoolCircularBuffer input)
    {
        lock (_received)
        {
            byte[] taken = new byte[Math.Min(input.Length, _wanted - _received.Length)];
            input.CopyTo(0, taken);
            input.Consume(taken.Length);
            _received.Write(taken);
            if (_received.Length < _wanted)
            {
                return ReceiveOutcome.Continue;
            }

            _there?.TrySetResult();
            return ReceiveOutcome.Pause;
        }
    }

    void IConnectionProtocol.OnInputEnded(bool truncated) => NothingMoreComes();

    void IConnectionProtocol.OnClosed(CloseReason reason) => NothingMoreComes();

    private void NothingMoreComes()
    {
        // Under the lock, so that whoever begins to wait either sees the end or is seen.
        lock (_received)
        {
            _ended.TrySetResult();
            _there?.TrySetResult();
        }
    }

    private Task WantAsync(int count)
    {
        Task there;
        lock (_received)
        {
            _wanted = (long)_read + count;
            _there = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            there = _there.Task;
            if (_received.Length >= _wanted || _ended.Task.IsCompleted)
            {
                _there.SetResult();
            }
        }

        _connection.ResumeReading();
        return there;
    }
}
