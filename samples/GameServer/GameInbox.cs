using System.Collections.Concurrent;
using System.Threading.Channels;
using FastPort;
using GameServer.Messages;

namespace GameServer;

/// <summary>A player joined (with a name) or left (without a name).</summary>
internal readonly record struct PlayerChange(Session Session, string? Name);

// docs: latest

/// <summary>
/// The latest input of a player, the state of its session. An input says where its player wants to go from now on, so it replaces the one
/// before: whatever a client sends, it takes the room of one input and nothing from other players. The session's loop writes it, the game
/// loop reads it.
/// </summary>
internal sealed class LatestInput
{
    private Input? _input;

    public Input? Input
    {
        get => Volatile.Read(ref _input);
        set => Volatile.Write(ref _input, value);
    }
}

// docs: end

/// <summary>What the calls of many sessions leave for the game loop. Neither side waits for the other.</summary>
internal sealed class GameInbox
{
    /// <summary>
    /// Joins and leaves. None may be lost, so the channel has no bound: a session has at most two, also one that came and went since the
    /// last tick.
    /// </summary>
    public Channel<PlayerChange> Changes { get; } = Channel.CreateUnbounded<PlayerChange>(
        new UnboundedChannelOptions { SingleReader = true });

    /// <summary>Where the game loop leaves each snapshot, by the call that sends it.</summary>
    public ConcurrentDictionary<StreamContext, ChannelWriter<Snapshot>> Watchers { get; } = new();

    /// <summary>Snapshots that a slow watcher has not taken, counted by the game loop. The next one has the whole state again.</summary>
    public long MissedSnapshots { get; set; }
}
