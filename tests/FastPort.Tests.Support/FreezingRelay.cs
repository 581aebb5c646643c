using System.Net;
using System.Net.Sockets;

namespace FastPort.Tests.Support;

/// <summary>
/// Passes bytes between clients and a server, and can stop to do so while all connections stay open: a server that is stuck, or clients
/// that read nothing.
/// </summary>
internal sealed class FreezingRelay : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _end = new();
    private readonly Uri _target;
    private TaskCompletionSource _toServer = new();
    private TaskCompletionSource _toClients = new();
    private readonly Task _accepting;

    public FreezingRelay(string target)
    {
        _target = new Uri(target);
        Thaw();
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public string Url => $"{_target.Scheme}://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    public void Freeze()
    {
        FreezeRequests();
        _toClients = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    /// <summary>Only what clients send waits.</summary>
    public void FreezeRequests() => _toServer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Thaw()
    {
        _toServer.TrySetResult();
        _toClients.TrySetResult();
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        Thaw();
        _listener.Stop();
        await _accepting;
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                TcpClient client = await _listener.AcceptTcpClientAsync(_end.Token);

                // A small buffer: a server notices soon that nobody reads.
                var server = new TcpClient { ReceiveBufferSize = 65536 };
                await server.ConnectAsync(_target.Host, _target.Port, _end.Token);
                _ = PumpAsync(client, server, () => Volatile.Read(ref _toServer).Task);
                _ = PumpAsync(server, client, () => Volatile.Read(ref _toClients).Task);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException)
        {
            // The end of the test.
        }
    }

    private async Task PumpAsync(TcpClient from, TcpClient to, Func<Task> flowing)
    {
        var buffer = new byte[65536];
        try
        {
            for (int read = 1; read != 0;)
            {
                read = await from.GetStream().ReadAsync(buffer, _end.Token);
                await flowing().WaitAsync(_end.Token);
                await to.GetStream().WriteAsync(buffer.AsMemory(0, read), _end.Token);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or IOException or ObjectDisposedException or InvalidOperationException)
        {
            // Either end has closed its connection.
        }

        from.Dispose();
        to.Dispose();
    }
}
