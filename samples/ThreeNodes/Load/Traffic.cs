using FastPort.Connections;

namespace ThreeNodes.Load;

/// <summary>All players, who play until the traffic is stopped.</summary>
internal sealed class Traffic : IAsyncDisposable
{
    private readonly ConnectionClock _clock = new();
    private readonly CancellationTokenSource _end = new();
    private readonly Player[] _players;
    private Task _playing = Task.CompletedTask;

    /// <param name="players">How many.</param>
    /// <param name="endpoints">Where they connect, in turn: one balancer, or the nodes.</param>
    public Traffic(int players, IReadOnlyList<string> endpoints) =>
        _players = [.. Enumerable.Range(0, players).Select(i => new Player(i, players, endpoints[i % endpoints.Count], _clock, Account))];

    public Account Account { get; } = new();

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await Task.WhenAll(_players.Select(player => player.ConnectAsync(cancellationToken)));
        _playing = Task.WhenAll(_players.Select(player => Task.Run(() => player.PlayAsync(_end.Token), cancellationToken)));
    }

    /// <summary>Ends it when all that was sent has its answer.</summary>
    public async Task FinishAsync(CancellationToken cancellationToken)
    {
        await _end.CancelAsync();
        await _playing.WaitAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await Task.WhenAll(_players.Select(static player => player.DisposeAsync().AsTask()));
        await _playing.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _clock.Dispose();
        _end.Dispose();
    }
}
