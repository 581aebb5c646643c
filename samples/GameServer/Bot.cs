using FastPort;
using FastPort.Protocol;
using GameServer.Messages;

namespace GameServer;

/// <summary>A player that walks in circles: a client with a handler for the server's snapshots.</summary>
internal sealed class Bot : IAsyncDisposable
{
    private static readonly TimeSpan InputInterval = TimeSpan.FromMilliseconds(50);
    private readonly FastPortClient _client;
    private readonly TaskCompletionSource _joined = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _player;
    private int _snapshots;
    private uint _inputs;
    private PlayerState? _self;

    public Bot(string name, string endpoint)
    {
        Name = name;
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(GameMessageType.Snapshot, Snapshot.Parser, (snapshot, _) => OnSnapshot(snapshot));
        _client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, ClientName = name }, pushes);

        // A player is a session's: after a lost connection the client has another one, which has to join again.
        _client.Connected += session => _ = JoinAsync(session);
    }

    public string Name { get; }

    public int Snapshots => Volatile.Read(ref _snapshots);

    public uint Inputs => _inputs;

    /// <summary>This player's state in the latest snapshot; null before the first after a Join.</summary>
    public PlayerState? Self => Volatile.Read(ref _self);

    public async Task JoinAsync()
    {
        await _client.ConnectAsync();
        await _joined.Task;
    }

    /// <summary>Plays for a time, until a snapshot has the last input applied.</summary>
    public async Task PlayAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(InputInterval);
        var last = (uint)Math.Max(1, (long)(duration / InputInterval));
        while (!(Self?.LastInput >= last) && await timer.WaitForNextTickAsync(cancellationToken))
        {
            // The last one is sent until it is seen: what is under way when a connection ends is lost.
            _inputs = Math.Min(_inputs + 1, last);
            float angle = (_inputs - 1) / 20f;
            await _client.SendAsync(
                GameMessageType.Input,
                new Input { Sequence = _inputs, DirectionX = MathF.Cos(angle), DirectionY = MathF.Sin(angle) },
                cancellationToken);
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private async Task JoinAsync(Session session)
    {
        try
        {
            Joined joined = await session.RequestAsync(GameMessageType.Join, new Join { Name = Name }, Joined.Parser);
            Volatile.Write(ref _self, null);
            Volatile.Write(ref _player, joined.Player);
            _joined.TrySetResult();
        }
        catch (RequestFailedException e)
        {
            // Of the first session; a later one that is lost meanwhile is followed by another.
            _joined.TrySetException(e);
        }
    }

    // Runs on the client's loop: stores the data and returns.
    private void OnSnapshot(Snapshot snapshot)
    {
        Interlocked.Increment(ref _snapshots);
        long player = Volatile.Read(ref _player);
        foreach (PlayerState state in snapshot.Players)
        {
            if (state.Player == player)
            {
                Volatile.Write(ref _self, state);
            }
        }
    }
}
