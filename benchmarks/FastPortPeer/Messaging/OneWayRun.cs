using System.Diagnostics;
using FastPort.Hosting;
using FastPort.Sessions;

namespace FastPortPeer.Messaging;

/// <summary>
/// Sends messages to a routing id as fast as they are taken: the id is looked up for every message, as many as fill a burst leave together, and a full queue is
/// waited for.
/// </summary>
internal sealed class OneWayRun(FastPortServer server, MessageContent content)
{
    private const int BurstBytes = 128 * 1024;

    private readonly int _burstMessages = Math.Max(1, BurstBytes / content.Size);
    private long _number;

    public async Task<SideResult> RunAsync(RunClock clock)
    {
        _number = 0;
        while (clock.Advance(Stopwatch.GetTimestamp(), _number) != MessagePhase.Last)
        {
            await SendAllAsync(clock.Phase, _burstMessages);
        }

        SideResult result = clock.Result(_number);
        await SendAllAsync(MessagePhase.Last, 1);
        return result;
    }

    private async ValueTask SendAllAsync(MessagePhase phase, int count)
    {
        for (count -= TrySend(phase, count); count > 0; count -= TrySend(phase, count))
        {
            await Find().WhenWritableAsync();
        }
    }

    /// <summary>Sends as many as there is room for.</summary>
    private int TrySend(MessagePhase phase, int count)
    {
        using SendBurst burst = Find().BeginBurst();
        for (int i = 0; i < count; i++)
        {
            SendStatus status = Find().TrySend(MessagingSettings.MessageType, new MessageBody(content, new MessageMark(phase, _number)));
            if (status == SendStatus.Full)
            {
                return i;
            }

            if (status != SendStatus.Queued)
            {
                throw new PeerException($"Message {_number} was not sent: {status}.");
            }

            _number++;
        }

        return count;
    }

    private Session Find() =>
        server.FindSession(MessagingSettings.ClientId) ?? throw new PeerException($"Nobody is there by the routing id '{MessagingSettings.ClientId}'.");
}
