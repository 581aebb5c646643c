using FastPort;
using FastPort.Framing;
using FastPort.Protocol;

namespace FastPortPeer.Soak;

/// <summary>Streams to the server: bursts of one-way messages, after each of which the server's count has to be the client's.</summary>
internal sealed class SinkSoak(string serverEndpoint) : SoakLoad("stream to the server", serverEndpoint)
{
    private const int LargestBurst = 5000;
    private const int LargestMessage = 4096;

    protected override async Task RunRoundsAsync(CancellationToken stop)
    {
        await using FastPortClient client = await ConnectAsync();
        var random = new Random(1);
        byte[] bytes = new byte[LargestMessage];
        ulong messages = 0;
        ulong sum = 0;
        while (!stop.IsCancellationRequested)
        {
            int burst = random.Next(1, LargestBurst);
            int size = random.Next(bytes.Length);
            for (int i = 0; i < burst; i++)
            {
                SendStatus status = await client.TrySendAsync(
                    DiagnosticType.Sink, new SequenceBody(new(bytes, 0, size)), CancellationToken.None);
                if (status != SendStatus.Queued)
                {
                    throw new PeerException($"A one-way message was not sent: {status}.");
                }
            }

            messages += (ulong)burst;
            sum += (ulong)burst * (ulong)size;
            Account.Sent(burst);
            SinkReport report = await client.RequestAsync(
                DiagnosticType.SinkReport, new SinkReport(), SinkReport.Parser, cancellationToken: CancellationToken.None);
            if (report.Messages != messages || report.Bytes != sum)
            {
                Account.Deviation(
                    $"{messages} messages with {sum} bytes were sent; the server has counted {report.Messages} with {report.Bytes}.");
            }

            Account.Arrived((long)report.Messages - (long)(messages - (ulong)burst));
        }
    }
}
