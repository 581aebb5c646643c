using System.Runtime.CompilerServices;
using BrowserGame.Messages;
using FastPort;

namespace BrowserGame;

/// <summary>The players' calls. A dot is in the room as long as its player's call of Enter.</summary>
internal sealed class RoomService(GameRoom room) : RoomBase
{
    private const int LongestName = 20;

    public override async IAsyncEnumerable<Scene> EnterAsync(
        EnterRequest request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        if (request.Name.Length is 0 or > LongestName)
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody, $"The name has {request.Name.Length} characters; allowed: 1 to {LongestName}.");
        }

        // docs: enter
        Player player = room.Enter(context.Session, request.Name);
        try
        {
            await foreach (Scene scene in player.Scenes.Reader.ReadAllAsync(cancellationToken))
            {
                yield return scene;
            }
        }
        finally
        {
            room.Leave(player);
        }

        // docs: end
    }

    // Runs on the session's loop: it keeps the place, which takes less time than passing the message to another thread.
    public override Gone Go(Place request, Session session)
    {
        (session.State as Player)?.GoTo(request.X, request.Y);
        return new Gone();
    }
}
