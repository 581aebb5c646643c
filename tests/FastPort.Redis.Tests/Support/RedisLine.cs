using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace FastPort.Redis.Tests.Support;

/// <summary>
/// The line between a node and Redis, which can be cut as a network is: bytes go nowhere, and nobody is told.
/// </summary>
internal sealed class RedisLine : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stop = new();
    private readonly int _port;
    private readonly Task _accepting;
    private TaskCompletionSource _connected = new();

    public RedisLine(RedisProcess redis)
    {
        _port = redis.Port;
        _connected.SetResult();
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public string Connection => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}");

    public void Cut() => _connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Mend() => _connected.SetResult();

    /// <summary>Ends all connections; there will be no others.</summary>
    public async Task CloseAsync()
    {
        await _stop.CancelAsync();
        _connected.TrySetResult();
        _listener.Stop();
        await _accepting;
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
                await Task.WhenAny(CopyAsync(node, redis), CopyAsync(redis, node));
            }
            catch (Exception e) when (e is SocketException or OperationCanceledException)
            {
                // The line ends with either side.
            }
        }
    }

    private async Task CopyAsync(Socket from, Socket to)
    {
        byte[] buffer = new byte[64 * 1024];
        try
        {
            while (await from.ReceiveAsync(buffer, _stop.Token) is > 0 and var bytes)
            {
                await _connected.Task.WaitAsync(_stop.Token);
                await to.SendAsync(buffer.AsMemory(0, bytes), _stop.Token);
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // As above.
        }
    }
}
