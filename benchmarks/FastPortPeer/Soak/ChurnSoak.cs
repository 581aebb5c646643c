using FastPort;
using System.Net;
using System.Net.Sockets;
using FastPort.Protocol;

namespace FastPortPeer.Soak;

/// <summary>
/// Connections that come and go: closed in order with requests in flight, which are all answered; cut with requests in flight, each of
/// which ends exactly once; and cut in the middle of a frame.
/// </summary>
internal sealed class ChurnSoak(string serverEndpoint) : SoakLoad("connect and disconnect", serverEndpoint)
{
    private const int Requests = 8;

    protected override async Task RunRoundsAsync(CancellationToken stop)
    {
        var random = new Random(4);
        while (!stop.IsCancellationRequested)
        {
            await CloseAsync(random);
            await CutAsync(random);
            await CutFrameAsync();
        }
    }

    private async Task CloseAsync(Random random)
    {
        await using FastPortClient client = await ConnectAsync();
        Task<bool>[] requests = Begin(client, random);
        await client.CloseAsync();
        bool[] answered = await Task.WhenAll(requests);
        if (answered.Contains(false))
        {
            Account.Deviation("A request in flight was not answered when its client closed in order.");
        }
    }

    private async Task CutAsync(Random random)
    {
        await using FastPortClient client = await ConnectAsync();
        Task<bool>[] requests = Begin(client, random);
        client.Session?.Abort();
        await Task.WhenAll(requests).WaitAsync(TimeSpan.FromSeconds(30), CancellationToken.None);
    }

    private async Task CutFrameAsync()
    {
        var endpoint = Endpoint.Parse(ServerEndpoint);
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Parse(endpoint.Host), endpoint.Port);
        await socket.SendAsync(new byte[] { 100, 0, 0, 0, 0, 1 });
    }

    private Task<bool>[] Begin(FastPortClient client, Random random) =>
        [.. Enumerable.Range(0, Requests).Select(_ => EchoAsync(client, EchoBytes.Next(random)))];

    private async Task<bool> EchoAsync(FastPortClient client, byte[] body)
    {
        Account.Sent();
        try
        {
            byte[] reply = await client.RequestAsync(DiagnosticType.Echo, body);
            Account.Arrived();
            if (!reply.AsSpan().SequenceEqual(body))
            {
                Account.Deviation($"An echo of {body.Length} bytes came back with {reply.Length} bytes or others.");
            }

            return true;
        }
        catch (RequestFailedException e)
        {
            Account.Lost();
            if (e.Failure == FastPort.RequestFailure.TimedOut)
            {
                Account.Deviation($"A request on a connection that was cut ended by its timeout: {e.Message}");
            }

            return false;
        }
    }
}
