using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using FastPort;

namespace Walking;

public sealed class MoveService : MoveBase
{
    private readonly ConcurrentDictionary<long, Position> _players = new();

    public override ValueTask<Position> WalkAsync(Step request, RequestContext context)
    {
        if (request.East is < -1 or > 1 || request.North is < -1 or > 1)
        {
            throw new RequestRefusedException(ErrorCode.Forbidden, "A step is at most 1 long.");
        }

        Position position = _players.GetValueOrDefault(context.Session.Id) ?? new Position();
        position = new Position { East = position.East + request.East, North = position.North + request.North };
        _players[context.Session.Id] = position;
        return ValueTask.FromResult(position);
    }

    public override Position Look(LookRequest request, Session session) =>
        _players.GetValueOrDefault(session.Id) ?? new Position();

    public override async IAsyncEnumerable<Position> WatchAsync(
        LookRequest request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (true)
        {
            yield return Look(request, context.Session);
            await Task.Delay(TimeSpan.FromMilliseconds(100), cancellationToken);
        }
    }
}
