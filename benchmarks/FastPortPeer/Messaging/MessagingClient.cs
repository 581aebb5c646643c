using FastPort;
using System.Diagnostics;

namespace FastPortPeer.Messaging;

/// <summary>
/// The receiving side: a client with a routing id that reads the edges of every message and, in lock-step, sends it back. What it counts
/// belongs to the session's loop; it prints its line when a run's last message has come.
/// </summary>
internal sealed class MessagingClient : IAsyncDisposable
{
    private readonly MessageContent _content;
    private readonly bool _lockStep;
    private readonly FastPortClient _client;
    private readonly TaskCompletionSource _failed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _number;
    private long _first = -1;
    private long _begun;
    private TimeSpan _cpu;

    public MessagingClient(MessagingSettings settings, string endpoint)
    {
        _content = new MessageContent(settings.Size);
        _lockStep = settings.LockStep;
        var options = new FastPortClientOptions
        {
            Endpoint = endpoint,
            RoutingId = MessagingSettings.ClientId,
            Loops = 1,
            SpinMicroseconds = settings.SpinMicroseconds,
            Reconnect = false,
        };
        _client = new FastPortClient(options, new MessageHandlers().MapInline(MessagingSettings.MessageType, OnMessage));
        _client.Disconnected += (_, reason) => _failed.TrySetException(new PeerException($"The connection has ended: {reason}"));
    }

    /// <summary>Connects and lets the server know.</summary>
    public async Task StartAsync()
    {
        await _client.ConnectAsync();
        SendStatus status = await _client.TrySendAsync(MessagingSettings.MessageType, new MessageBody(_content, default));
        if (status != SendStatus.Queued)
        {
            throw new PeerException($"The first message was not sent: {status}.");
        }
    }

    /// <summary>Ends with an exception where a message was wrong or the connection has ended.</summary>
    public Task Failed => _failed.Task;

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private void OnMessage(ref InlineRequest request)
    {
        try
        {
            Take(ref request);
        }
        catch (PeerException e)
        {
            _failed.TrySetException(e);
        }
    }

    private void Take(ref InlineRequest request)
    {
        MessageMark mark = _content.Verify(ref request, _number);
        if (_first < 0 && mark.Phase == MessagePhase.Measured)
        {
            _first = _number;
            _begun = Stopwatch.GetTimestamp();
            _cpu = ProcessFigures.OwnCpu;
        }

        if (_lockStep)
        {
            SendStatus status = request.Session.TrySend(MessagingSettings.BackType, new MessageBody(_content, mark));
            if (status != SendStatus.Queued)
            {
                throw new PeerException($"Message {mark.Number} was not sent back: {status}.");
            }
        }

        _number++;
        if (mark.Phase == MessagePhase.Last)
        {
            PrintRun();
        }
    }

    private void PrintRun()
    {
        new SideResult
        {
            Side = "client",
            Messages = _number - 1 - _first,
            Seconds = Stopwatch.GetElapsedTime(_begun).TotalSeconds,
            CpuS = (ProcessFigures.OwnCpu - _cpu).TotalSeconds,
        }.Print();
        _number = 0;
        _first = -1;
    }
}
