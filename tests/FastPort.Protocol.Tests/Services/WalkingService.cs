using Google.Protobuf.WellKnownTypes;

namespace FastPort.Protocol.Tests.Services;

/// <summary>Answers with what it was asked, and with where it runs.</summary>
internal sealed class WalkingService : WalkingBase
{
    public override async ValueTask<Place> WalkAsync(Step request, RequestContext context)
    {
        bool isOnLoop = context.Session.Connection.IsOnLoop;
        await Task.Yield();
        return Answer(request, isOnLoop);
    }

    public override ValueTask<Place> TurnAsync(Step request, RequestContext context) =>
        ValueTask.FromResult(Answer(request, context.Session.Connection.IsOnLoop));

    public override Place Look(Step request, Session session) => Answer(request, session.Connection.IsOnLoop);

    public override async ValueTask<Place> CallBackAsync(Step request, RequestContext context) =>
        await new WalkerClient(context.Session).NameAsync(new Empty(), cancellationToken: context.Aborted);

    private static Place Answer(Step step, bool isOnLoop) => step.Note switch
    {
        "refuse" => throw new RequestRefusedException(ErrorCode.Forbidden, "Not this way."),
        "throw" => throw new InvalidOperationException("the password is 1234"),
        _ => new Place { East = step.East + 1, Note = isOnLoop ? "loop" : "pool" },
    };
}

/// <summary>The service of a client.</summary>
internal sealed class WalkerService : WalkerBase
{
    public override Place Name(Empty request, Session session) => new() { Note = "Ann" };
}
