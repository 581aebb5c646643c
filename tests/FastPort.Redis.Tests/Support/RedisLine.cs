using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;

namespace FastPort.Redis.Tests.Support;

/// <summary>
/// The line between a node and Redis. A test can cut it as a network is cut: no byte arrives, and no side is told. It can also hold the
/// publications to the node, if the node uses RESP2: they have a connection of their own then.
/// </summary>
internal sealed class RedisLine : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stop = new();
    private readonly int _port;
    private readonly Task _accepting;
    private TaskCompletionSource _connected = new();
    private TaskCompletionSource _delivers = new();
    private long _publishedBytes;

    public RedisLine(RedisProcess redis)
    {
        _port = redis.Port;
        _connected.SetResult();
        _delivers.SetResult();
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public string Connection => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}");

    public void Cut() => _connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Mend() => _connected.SetResult();

    /// <summary>Bytes that Redis has sent on the connection of the node's publications, held or not.</summary>
    public long PublishedBytes => Volatile.Read(ref _publishedBytes);

    public void HoldPublished() => _delivers = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void DeliverPublished() => _delivers.SetResult();

    /// <summary>Ends all connections; there will be no others.</summary>
    public async Task CloseAsync()
    {
        await _stop.CancelAsync();
        _connected.TrySetResult();
        _delivers.TrySetResult();

        // In this order: a listener that has stopped refuses to accept, which is no cancellation.
        await _accepting;
        _listener.Stop();
    }

    public async ValueTask DisposeAsync()
    {
        await CloseAsync();
        _stop.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                Socket node = await _listener.AcceptSocketAsync(_stop.Token);
                _ = ConnectAsync(node);
            }
        }
        catch (OperationCanceledException)
        {
            // The end of the test.
        }
    }

    private async Task ConnectAsync(Socket node)
    {
        using (node)
        using (var redis = new Socket(SocketType.Stream, ProtocolType.Tcp))
        {
            try
            {
                await redis.ConnectAsync(IPAddress.Loopback, _port, _stop.Token);
                var line = new Line();
                _ = AnswerAsync(redis, line);
                await Task.WhenAny(AskAsync(node, redis, line), DeliverAsync(line, node));
            }
            catch (Exception e) when (e is SocketException or OperationCanceledException)
            {
                // The line ends with either side.
            }
        }
    }

    private async Task AskAsync(Socket node, Socket redis, Line line)
    {
        byte[] buffer = new byte[64 * 1024];
        try
        {
            while (await node.ReceiveAsync(buffer, _stop.Token) is > 0 and var bytes)
            {
                line.IsSubscribed |= buffer.AsSpan(0, bytes).IndexOf("SUBSCRIBE"u8) >= 0;
                await _connected.Task.WaitAsync(_stop.Token);
                await redis.SendAsync(buffer.AsMemory(0, bytes), _stop.Token);
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // As above.
        }
    }

    private async Task AnswerAsync(Socket redis, Line line)
    {
        byte[] buffer = new byte[64 * 1024];
        try
        {
            while (await redis.ReceiveAsync(buffer, _stop.Token) is > 0 and var bytes)
            {
                if (line.IsSubscribed)
                {
                    Interlocked.Add(ref _publishedBytes, bytes);
                }

                // While the line is cut, Redis finds that nobody reads.
                await _connected.Task.WaitAsync(_stop.Token);
                await line.Answers.Writer.WriteAsync(buffer.AsSpan(0, bytes).ToArray(), _stop.Token);
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // As above.
        }

        line.Answers.Writer.Complete();
    }

    private async Task DeliverAsync(Line line, Socket node)
    {
        try
        {
            await foreach (byte[] answer in line.Answers.Reader.ReadAllAsync(_stop.Token))
            {
                if (line.IsSubscribed)
                {
                    await _delivers.Task.WaitAsync(_stop.Token);
                }

                await node.SendAsync(answer, _stop.Token);
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // As above.
        }
    }

    /// <summary>One connection.</summary>
    private sealed class Line
    {
        /// <summary>What Redis has sent and the node has not received yet.</summary>
        public Channel<byte[]> Answers { get; } = Channel.CreateUnbounded<byte[]>();

        public bool IsSubscribed { get; set; }
    }
}
