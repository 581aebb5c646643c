using FastPort;
using FastPort.Protocol;

namespace FastPortPeer.Soak;

/// <summary>Echo requests of all sizes, several in flight on each connection; every reply is compared byte for byte.</summary>
internal sealed class EchoSoak(string serverEndpoint) : SoakLoad("echo", serverEndpoint)
{
    private const int Connections = 4;
    private const int InFlight = 8;

    protected override Task RunRoundsAsync(CancellationToken stop) =>
        Task.WhenAll(Enumerable.Range(0, Connections).Select(i => RunConnectionAsync(i, stop)));

    private async Task RunConnectionAsync(int number, CancellationToken stop)
    {
        await using FastPortClient client = await ConnectAsync();
        await Task.WhenAll(Enumerable.Range(0, InFlight).Select(i => EchoAsync(client, new Random((number * InFlight) + i), stop)));
    }

    private async Task EchoAsync(FastPortClient client, Random random, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            byte[] body = EchoBytes.Next(random);
            Account.Sent();
            byte[] reply = await client.RequestAsync(DiagnosticType.Echo, body, cancellationToken: CancellationToken.None);
            Account.Arrived();
            if (!reply.AsSpan().SequenceEqual(body))
            {
                Account.Deviation($"An echo of {body.Length} bytes came back with {reply.Length} bytes or others.");
            }
        }
    }
}
