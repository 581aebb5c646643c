using System.Runtime.CompilerServices;
using System.Threading.Channels;
using FastPort;
using GameServer.Messages;

namespace GameServer;

/// <summary>
/// The players' calls. Join and Steer run on the session's loop: they write to a channel or keep an input, which takes less time than
/// passing the message to another thread. They run one after the other for one session, so its state needs no lock here.
/// </summary>
internal sealed class GameService(GameInbox inbox, GameOptions options) : GameBase
{
    private const int LongestName = 32;

    public override Joined Join(JoinRequest request, Session session)
    {
        if (session.State is not null)
        {
            throw new RequestRefusedException(ErrorCode.Forbidden, "This session has joined already.");
        }

        if (request.Name.Length is 0 or > LongestName)
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody, $"The name has {request.Name.Length} characters; allowed: 1 to {LongestName}.");
        }

        session.State = new LatestInput();
        inbox.Changes.Writer.TryWrite(new PlayerChange(session, request.Name));
        return new Joined { Player = session.Id, TicksPerSecond = (uint)options.TicksPerSecond };
    }

    public override Steered Steer(Input request, Session session)
    {
        if (session.State is LatestInput latest)
        {
            latest.Input = request;
        }

        return new Steered();
    }

    // docs: watch
    public override async IAsyncEnumerable<Snapshot> WatchAsync(
        WatchRequest request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        // The game loop never waits for a watcher: a snapshot that was not taken is replaced by the next one.
        var latest = Channel.CreateBounded<Snapshot>(
            new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropOldest }, _ => inbox.MissedSnapshots++);
        inbox.Watchers[context] = latest.Writer;
        try
        {
            await foreach (Snapshot snapshot in latest.Reader.ReadAllAsync(cancellationToken))
            {
                yield return snapshot;
            }
        }
        finally
        {
            inbox.Watchers.TryRemove(context, out _);
        }
    }

    // docs: end
}
