using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace FastPort.Tests.Support;

/// <summary>A network between client and server that a test can cut, and in which bytes can get stuck.</summary>
internal sealed class TcpRelay : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stopping = new();
    private readonly ConcurrentBag<TcpClient> _clients = [];
    private readonly Task _accepting;
    private readonly int _target;
    private CancellationTokenSource _flowing = new();

    public TcpRelay(int port)
    {
        _target = port;
        _listener.Start();
        _accepting = AcceptAsync();
    }

    /// <summary>Connections that come from now on wait for this.</summary>
    public Task Admission { get; set; } = Task.CompletedTask;

    public string Url => $"opc.tcp://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}/test";

    /// <summary>The connections of now stay open, and nothing comes through them any more. Later ones work.</summary>
    public void Freeze() => Interlocked.Exchange(ref _flowing, new CancellationTokenSource()).Cancel();

    /// <summary>Ends the connections of now.</summary>
    public void Cut()
    {
        // All are taken before one ends: whoever connects again at once is not cut.
        List<TcpClient> clients = [];
        while (_clients.TryTake(out TcpClient? client))
        {
            clients.Add(client);
        }

        clients.ForEach(static client => client.Dispose());
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        Cut();
        await _accepting;
    }

    private static async Task PumpAsync(TcpClient from, TcpClient to, CancellationToken flowing)
    {
        byte[] buffer = new byte[64 * 1024];
        try
        {
            int count;
            while ((count = await from.GetStream().ReadAsync(buffer, flowing)) != 0)
            {
                await to.GetStream().WriteAsync(buffer.AsMemory(0, count), flowing);
            }
        }
        catch (OperationCanceledException)
        {
            // Frozen.
            return;
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // Cut, or ended by the other side.
        }

        from.Dispose();
        to.Dispose();
    }

    private async Task ConnectAsync(TcpClient client)
    {
        var server = new TcpClient();
        _clients.Add(client);
        _clients.Add(server);
        CancellationToken flowing = _flowing.Token;
        try
        {
            await Admission.WaitAsync(_stopping.Token);
            await server.ConnectAsync(IPAddress.Loopback, _target);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or OperationCanceledException)
        {
            // Cut already, or there is no server, or the test is over.
            client.Dispose();
            return;
        }

        await Task.WhenAll(PumpAsync(client, server, flowing), PumpAsync(server, client, flowing));
    }

    private async Task AcceptAsync()
    {
        List<Task> pumps = [];
        try
        {
            while (true)
            {
                TcpClient client = await _listener.AcceptTcpClientAsync(_stopping.Token);
                pumps.Add(ConnectAsync(client));
            }
        }
        catch (Exception e) when (
            e is OperationCanceledException or SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // The test is over.
        }

        Cut();
        await Task.WhenAll(pumps);
    }
}
