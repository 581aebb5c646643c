using System.Threading.Channels;
using FastPort.Sessions;
using GameServer.Messages;

namespace GameServer;

/// <summary>A player came (with a name) or left (without one).</summary>
internal readonly record struct PlayerChange(Session Session, string? Name);

/// <summary>An input of a player.</summary>
internal readonly record struct PlayerInput(long Player, Input Input);

/// <summary>
/// The way from many sessions' loops into the one game loop. Writing never waits, so inline handlers may do it; only the game loop reads.
/// </summary>
internal sealed class GameInbox
{
    private readonly Channel<PlayerInput> _inputs;
    private long _dropped;

    // docs: channel
    public GameInbox(GameOptions options) =>

        // Inputs say where a player wants to go from now on: when the loop falls behind, the oldest are the least worth. So a full channel
        // drops them, counted, and memory stays bounded whatever the clients send.
        _inputs = Channel.CreateBounded<PlayerInput>(
            new BoundedChannelOptions(options.InputQueueLength) { FullMode = BoundedChannelFullMode.DropOldest, SingleReader = true },
            _ => Interlocked.Increment(ref _dropped));

    // docs: end

    /// <summary>Inputs dropped because the loop did not keep up.</summary>
    public long Dropped => Interlocked.Read(ref _dropped);

    public ChannelReader<PlayerInput> Inputs => _inputs.Reader;

    /// <summary>Comings and goings. None may be lost, and a session makes two at most: MaxConnections bounds it.</summary>
    public Channel<PlayerChange> Changes { get; } = Channel.CreateUnbounded<PlayerChange>(
        new UnboundedChannelOptions { SingleReader = true });

    public void Add(PlayerInput input) => _inputs.Writer.TryWrite(input);
}
