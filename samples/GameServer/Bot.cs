using FastPort;
using GameServer.Messages;

namespace GameServer;

/// <summary>A player that walks in circles, and watches the world.</summary>
internal sealed class Bot : IAsyncDisposable
{
    private static readonly TimeSpan InputInterval = TimeSpan.FromMilliseconds(50);
    private readonly FastPortClient _client;
    private readonly CancellationTokenSource _leaving = new();
    private readonly TaskCompletionSource _joined = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _snapshots;
    private PlayerState? _self;

    public Bot(string name, string endpoint)
    {
        Name = name;
        var options = new FastPortClientOptions { Endpoint = endpoint, ClientName = name };

        // A snapshot that waits for its reader ages: let few be under way.
        options.Session.StreamWindowMessages = 2;
        _client = new FastPortClient(options);

        // A player is a session's: after a lost connection the client has another one, which has to join again.
        _client.Connected += session => _ = WatchAsync(new GameClient(session));
    }

    public string Name { get; }

    public int Snapshots => Volatile.Read(ref _snapshots);

    public uint Inputs { get; private set; }

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
        var game = new GameClient(_client);
        using var timer = new PeriodicTimer(InputInterval);
        var last = (uint)Math.Max(1, (long)(duration / InputInterval));
        while (!(Self?.LastInput >= last) && await timer.WaitForNextTickAsync(cancellationToken))
        {
            // The last one is sent until it is seen: what is under way when a connection ends is lost.
            Inputs = Math.Min(Inputs + 1, last);
            float angle = (Inputs - 1) / 20f;
            var input = new Input { Sequence = Inputs, DirectionX = MathF.Cos(angle), DirectionY = MathF.Sin(angle) };
            try
            {
                await game.SteerAsync(input, cancellationToken: cancellationToken);
            }
            catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost)
            {
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        // A client that closes waits for its open streams.
        await _leaving.CancelAsync();
        await _client.DisposeAsync();
        _leaving.Dispose();
    }

    // Of one session, until that ends.
    private async Task WatchAsync(GameClient game)
    {
        try
        {
            Joined joined = await game.JoinAsync(new JoinRequest { Name = Name });
            Volatile.Write(ref _self, null);
            _joined.TrySetResult();
            await foreach (Snapshot snapshot in game.WatchAsync(new WatchRequest(), cancellationToken: _leaving.Token))
            {
                Interlocked.Increment(ref _snapshots);
                Volatile.Write(ref _self, snapshot.Players.FirstOrDefault(p => p.Player == joined.Player) ?? Self);
            }
        }
        catch (Exception e) when (e is RequestFailedException or OperationCanceledException)
        {
            // Of the first session; a later one that is lost meanwhile is followed by another.
            _joined.TrySetException(e);
        }
    }
}
