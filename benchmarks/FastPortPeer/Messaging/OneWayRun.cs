using FastPort;
using System.Diagnostics;

namespace FastPortPeer.Messaging;

/// <summary>
/// Sends messages to a routing id as fast as they are taken: the id is looked up for every message, its session's batch collects them
/// (large ones, which it would copy once more, go to the session itself, flushed together), and a full queue is waited for.
/// </summary>
internal sealed class OneWayRun(FastPortServer server, MessageContent content)
{
    private const int BatchBytes = 1024 * 1024;
    private const int BurstBytes = 128 * 1024;
    private const int LargeBytes = 32 * 1024;

    private readonly bool _large = content.Size >= LargeBytes;
    private long _number;

    public async Task<SideResult> RunAsync(RunClock clock)
    {
        int together = Math.Max(1, (_large ? BurstBytes : BatchBytes) / content.Size);
        _number = 0;
        while (clock.Advance(Stopwatch.GetTimestamp(), _number) != MessagePhase.Last)
        {
            await SendAllAsync(clock.Phase, together);
        }

        SideResult result = clock.Result(_number);
        await SendAllAsync(MessagePhase.Last, 1);
        return result;
    }

    private async ValueTask SendAllAsync(MessagePhase phase, int count)
    {
        while (true)
        {
            count -= _large ? TrySendBurst(phase, count) : TrySendBatch(phase, count);
            if (count == 0)
            {
                return;
            }

            await Find().WhenWritableAsync();
        }
    }

    /// <summary>Sends as many as there is room for.</summary>
    private int TrySendBatch(MessagePhase phase, int count)
    {
        Session session = Find();
        using SendBatch batch = session.BeginBatch();
        int sent = 0;
        while (sent < count && ReferenceEquals(Find(), session) && Took(batch.TrySend(MessagingSettings.MessageType, Next(phase))))
        {
            sent++;
        }

        Require(batch.Flush());
        return sent;
    }

    /// <summary>As <see cref="TrySendBatch"/>, each into the session's queue at once.</summary>
    private int TrySendBurst(MessagePhase phase, int count)
    {
        using FlushDeferral deferral = Find().DeferFlush();
        int sent = 0;
        while (sent < count && Took(Find().TrySend(MessagingSettings.MessageType, Next(phase))))
        {
            sent++;
        }

        return sent;
    }

    private MessageBody Next(MessagePhase phase) => new(content, new MessageMark(phase, _number));

    // False where there is no room now.
    private bool Took(SendStatus status)
    {
        if (status == SendStatus.Full)
        {
            return false;
        }

        Require(status);
        _number++;
        return true;
    }

    private void Require(SendStatus status)
    {
        if (status != SendStatus.Queued)
        {
            throw new PeerException($"Message {_number} was not sent: {status}.");
        }
    }

    private Session Find() =>
        server.Routing.Find(MessagingSettings.ClientId)
            ?? throw new PeerException($"Nobody is there by the routing id '{MessagingSettings.ClientId}'.");
}
