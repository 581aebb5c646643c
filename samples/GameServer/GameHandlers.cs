using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Protocol;
using FastPort.Sessions;
using GameServer.Messages;

namespace GameServer;

/// <summary>
/// The players' messages. All are inline: they only look at the session and write to a channel, which takes less time than a hand-over to
/// another thread would. Messages of one session are handled one after the other, so state kept on the session needs no lock here.
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
                ErrorCode.MalformedBody, $"The name has {join.Name.Length} characters; allowed are 1 to {LongestName}.");
        }

        session.State = join.Name;
        inbox.Changes.Writer.TryWrite(new PlayerChange(session, join.Name));
        return new Joined { Player = session.Id, TicksPerSecond = (uint)options.TicksPerSecond };
    }

    private void OnInput(Input input, Session session)
    {
        // Before its Join a session is a spectator who sees nothing and moves nothing.
        if (session.State is not null)
        {
            inbox.Add(new PlayerInput(session.Id, input));
        }
    }
}
