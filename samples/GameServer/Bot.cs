using FastPort.Clients;
using FastPort.Dispatch;
using FastPort.Protocol;
using FastPort.Protocol.Clients;
using GameServer.Messages;

namespace GameServer;

/// <summary>A player that walks in circles: a client with a handler for the server's snapshots.</summary>
internal sealed class Bot : IAsyncDisposable
{
    private static readonly TimeSpan InputInterval = TimeSpan.FromMilliseconds(50);
    private readonly FastPortClient _client;
    private readonly TaskCompletionSource _caughtUp = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _player;
    private int _snapshots;
    private uint _inputs;
    private uint _awaitedInput = uint.MaxValue;
    private PlayerState? _self;

    public Bot(string name, string endpoint)
    {
        Name = name;
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(GameMessageType.Snapshot, Snapshot.Parser, (snapshot, _) => OnSnapshot(snapshot));
        _client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, ClientName = name }, pushes);
    }

    public string Name { get; }

    public int Snapshots => Volatile.Read(ref _snapshots);

    public uint Inputs => _inputs;

    /// <summary>This player's state in the latest snapshot; null before the first.</summary>
    public PlayerState? Self => Volatile.Read(ref _self);

    public async Task JoinAsync()
    {
        await _client.ConnectAsync();
        Joined joined = await _client.RequestAsync(GameMessageType.Join, new Join { Name = Name }, Joined.Parser);
        Volatile.Write(ref _player, joined.Player);
    }

    /// <summary>Plays for a time, then waits for a snapshot with the last input applied.</summary>
    public async Task PlayAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(InputInterval);
        long inputs = Math.Max(1, (long)(duration / InputInterval));
        while (_inputs < inputs && await timer.WaitForNextTickAsync(cancellationToken))
        {
            float angle = _inputs / 20f;
            _inputs++;
            await _client.SendAsync(
                GameMessageType.Input,
                new Input { Sequence = _inputs, DirectionX = MathF.Cos(angle), DirectionY = MathF.Sin(angle) },
                cancellationToken);
        }

        Volatile.Write(ref _awaitedInput, _inputs);
        await _caughtUp.Task.WaitAsync(cancellationToken);
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

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
                if (state.LastInput >= Volatile.Read(ref _awaitedInput))
                {
                    _caughtUp.TrySetResult();
                }
            }
        }
    }
}
