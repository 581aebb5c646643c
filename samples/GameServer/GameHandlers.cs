using FastPort;
using FastPort.Protocol;
using GameServer.Messages;

namespace GameServer;

/// <summary>
/// Handles the players' messages. All handlers are inline: they keep an input or write to a channel, which takes less time than passing the
/// message to another thread. The messages of one session are handled one after the other, so the session's state needs no lock
/// here.
/// </summary>
internal sealed class GameHandlers(GameInbox inbox, GameOptions options)
{
    private const int LongestName = 32;

    public void Map(MessageHandlers handlers) => handlers
        .MapInline(GameMessageType.Join, Join.Parser, OnJoin)
        .MapInline(GameMessageType.Input, Input.Parser, OnInput);

    private Joined OnJoin(Join join, Session session)
    {
        if (session.State is not null)
        {
            throw new RequestRefusedException(ErrorCode.Forbidden, "This session has joined already.");
        }

        if (join.Name.Length is 0 or > LongestName)
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody, $"The name has {join.Name.Length} characters; allowed: 1 to {LongestName}.");
        }

        session.State = new LatestInput();
        inbox.Changes.Writer.TryWrite(new PlayerChange(session, join.Name));
        return new Joined { Player = session.Id, TicksPerSecond = (uint)options.TicksPerSecond };
    }

    private static void OnInput(Input input, Session session)
    {
        // Inputs before the Join are ignored.
        if (session.State is LatestInput latest)
        {
            latest.Input = input;
        }
    }
}
