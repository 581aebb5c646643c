using FastPort;

namespace OwnMessages;

internal sealed class PlayerService : PlayerBase
{
    public override ValueTask<Position> MoveAsync(Step request, RequestContext context) =>
        ValueTask.FromResult(new Position { X = 10 + request.Dx, Y = 10 + request.Dy });
}
