using System.Threading.Channels;
using FastPort.Sessions;
using GameServer.Messages;

namespace GameServer;

/// <summary>A player joined (with a name) or left (without a name).</summary>
internal readonly record struct PlayerChange(Session Session, string? Name);

/// <summary>An input of a player.</summary>
internal readonly record struct PlayerInput(long Player, Input Input);

/// <summary>
/// The queue from the loops of many sessions to the game loop. Writing never waits, so inline handlers may write; only the game loop reads.
/// </summary>
internal sealed class GameInbox
{
    private readonly Channel<PlayerInput> _inputs;
    private long _dropped;

    // docs: channel
    public GameInbox(GameOptions options) =>

        // An input replaces the player's earlier inputs: when the loop is late, the oldest inputs matter least. So a full channel drops and
        // counts them, and memory stays bounded whatever the clients send.
        _inputs = Channel.CreateBounded<PlayerInput>(
            new BoundedChannelOptions(options.InputQueueLength) { FullMode = BoundedChannelFullMode.DropOldest, SingleReader = true },
            _ => Interlocked.Increment(ref _dropped));

    // docs: end

    /// <summary>Inputs dropped because the loop did not keep up.</summary>
    public long Dropped => Interlocked.Read(ref _dropped);

    public ChannelReader<PlayerInput> Inputs => _inputs.Reader;

    /// <summary>Joins and leaves. None may be lost, and a session has at most two: MaxConnections bounds the channel.</summary>
    public Channel<PlayerChange> Changes { get; } = Channel.CreateUnbounded<PlayerChange>(
        new UnboundedChannelOptions { SingleReader = true });

    public void Add(PlayerInput input) => _inputs.Writer.TryWrite(input);
}
