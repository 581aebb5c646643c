using System.Net;
using System.Net.Sockets;

namespace FastPort.Protocol.Tests.Tags;

/// <summary>
/// Passes bytes between clients and a server, and can stop to do so while all connections stay open: a server that is stuck, or clients
/// that read nothing.
/// </summary>
internal sealed class FreezingRelay : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _end = new();
    private readonly Uri _target;
    private TaskCompletionSource _flowing = new();
    private readonly Task _accepting;

    public FreezingRelay(string target)
    {
        _target = new Uri(target);
        _flowing.SetResult();
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public string Url => $"{_target.Scheme}://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    public void Freeze() => _flowing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Thaw() => _flowing.SetResult();

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        _flowing.TrySetResult();
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
                _ = PumpAsync(client, server);
                _ = PumpAsync(server, client);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException)
        {
            // The end of the test.
        }
    }

    private async Task PumpAsync(TcpClient from, TcpClient to)
    {
        var buffer = new byte[65536];
        try
        {
            for (int read = 1; read != 0;)
            {
                read = await from.GetStream().ReadAsync(buffer, _end.Token);
                await Volatile.Read(ref _flowing).Task.WaitAsync(_end.Token);
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
