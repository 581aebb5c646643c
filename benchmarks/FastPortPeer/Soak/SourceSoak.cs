using FastPort;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPortPeer.Soak;

/// <summary>
/// Streams from the server: when the reply to a Source request comes, exactly the messages it asked for have come before it.
/// </summary>
internal sealed class SourceSoak(string serverEndpoint) : SoakLoad("stream from the server", serverEndpoint)
{
    private const int LargestStream = 5000;
    private const int LargestMessage = 4096;

    // Written by the session's loop; read when a reply has come on the same loop.
    private long _messages;
    private long _bytes;

    protected override async Task RunRoundsAsync(CancellationToken stop)
    {
        MessageHandlers handlers = new MessageHandlers().MapInline(DiagnosticType.Sink, Count);
        await using FastPortClient client = await ConnectAsync(handlers);
        var random = new Random(2);
        long messages = 0;
        long bytes = 0;
        while (!stop.IsCancellationRequested)
        {
            var source = new Source { Messages = (ulong)random.Next(1, LargestStream), PayloadBytes = (uint)random.Next(LargestMessage) };
            Account.Sent((long)source.Messages);
            await client.RequestAsync(DiagnosticType.Source, source.ToByteArray(), cancellationToken: CancellationToken.None);
            messages += (long)source.Messages;
            bytes += (long)source.Messages * source.PayloadBytes;
            (long gotMessages, long gotBytes) = (Volatile.Read(ref _messages), Volatile.Read(ref _bytes));
            if (gotMessages != messages || gotBytes != bytes)
            {
                Account.Deviation($"{messages} messages with {bytes} bytes were asked for, {gotMessages} with {gotBytes} came.");
            }

            Account.Arrived(gotMessages - (messages - (long)source.Messages));
        }
    }

    private void Count(ref InlineRequest request)
    {
        Volatile.Write(ref _bytes, _bytes + request.BodySize);
        Volatile.Write(ref _messages, _messages + 1);
    }
}
