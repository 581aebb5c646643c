using FastPort;
using System.Diagnostics;
using FastPort.Telemetry;

namespace FastPortPeer.Messaging;

/// <summary>
/// Sends a message to a routing id, and the next one when it has come back. The first is sent by whoever runs it; from then on everything
/// here belongs to the session's loop, which sends each next message from the handler of the one before.
/// </summary>
internal sealed class LockStepRun(FastPortServer server, MessageContent content)
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    private readonly LatencyHistogram _roundTrips = new();
    private TaskCompletionSource<SideResult>? _done;
    private RunClock? _clock;
    private long _number;
    private long _sentAt;

    public Task<SideResult> RunAsync(RunClock clock)
    {
        var done = new TaskCompletionSource<SideResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        _done = done;
        _clock = clock;
        _number = 0;
        _roundTrips.Reset();
        _sentAt = Stopwatch.GetTimestamp();
        Send();
        return done.Task;
    }

    /// <summary>A message has come back.</summary>
    public void OnBack(ref InlineRequest request)
    {
        try
        {
            content.Verify(ref request, _number);
            Next();
        }
        catch (PeerException e)
        {
            _done!.TrySetException(e);
        }
    }

    private void Next()
    {
        long now = Stopwatch.GetTimestamp();
        switch (_clock!.Phase)
        {
            case MessagePhase.Measured:
                _roundTrips.Record((long)((now - _sentAt) * NanosecondsPerTick));
                break;
            case MessagePhase.Last:
                _done!.TrySetResult(_clock.Result(_number).With(_roundTrips.Snapshot()));
                return;
            default:
                break;
        }

        _clock.Advance(now, ++_number);
        _sentAt = now;
        Send();
    }

    private void Send()
    {
        SendStatus status = server.Routing.Find(MessagingSettings.ClientId)
            ?.TrySend(MessagingSettings.MessageType, new MessageBody(content, new MessageMark(_clock!.Phase, _number)))
            ?? SendStatus.Closed;
        if (status != SendStatus.Queued)
        {
            _done!.TrySetException(new PeerException($"Message {_number} was not sent: {status}."));
        }
    }
}
