using System.Text;
using FastPort.Redis.Directory;
using FastPort.Routing;
using StackExchange.Redis;

namespace FastPort.Redis.Peers;

/// <summary>The sessions of all nodes. Nodes that do not answer in time are left out.</summary>
internal sealed class BackplanePeers(RedisBackplane backplane, IPeers local) : IPeers
{
    public async ValueTask<PeerInfo?> FindAsync(string routingId, CancellationToken cancellationToken) =>
        await local.FindAsync(routingId, cancellationToken).ConfigureAwait(false) is { } own
            ? own with { Node = backplane.Node }
            : await AskOwnerAsync(new PeerQuestion(PeerAction.Find, routingId), cancellationToken).ConfigureAwait(false);

    public async ValueTask<bool> KickAsync(string routingId, ErrorCode code, string reason, CancellationToken cancellationToken) =>
        await local.KickAsync(routingId, code, reason, cancellationToken).ConfigureAwait(false)
        || await AskOwnerAsync(new PeerQuestion(PeerAction.Kick, routingId, Code: (uint)code, Reason: reason), cancellationToken)
            .ConfigureAwait(false) is not null;

    public async ValueTask<IReadOnlyList<PeerInfo>> ListAsync(string prefix, int limit, string after, CancellationToken cancellationToken)
    {
        RunningBackplane? running = backplane.Running;
        var question = new PeerQuestion(PeerAction.List, prefix, limit, after);
        Task<PeerInfo[]?>[] asked = running is null
            ? []
            : [.. running.Members.Members.Keys.Where(instance => instance != running.Members.Self.Instance).Select(
                instance => running.Questions.AskAsync(instance, question, cancellationToken))];
        IReadOnlyList<PeerInfo> own = await local.ListAsync(prefix, limit, after, cancellationToken).ConfigureAwait(false);
        PeerInfo[]?[] others = await Task.WhenAll(asked).ConfigureAwait(false);

        // The first ones overall are among the first ones of each node. Two nodes may list an id for a moment while it moves.
        return
        [
            .. own.Select(one => one with { Node = backplane.Node })
                .Concat(others.SelectMany(static page => page ?? []))
                .DistinctBy(static one => one.RoutingId, StringComparer.Ordinal)
                .OrderBy(static one => one.RoutingId, StringComparer.Ordinal)
                .Take(limit),
        ];
    }

    private async Task<PeerInfo?> AskOwnerAsync(PeerQuestion question, CancellationToken cancellationToken)
    {
        if (backplane.Running is not { } running)
        {
            return null;
        }

        try
        {
            Location? owner = await running.Directory.LookUpAsync(Encoding.UTF8.GetBytes(question.Id)).WaitAsync(cancellationToken)
                .ConfigureAwait(false);
            return owner is { } location && location.Instance != running.Members.Self.Instance
                && await running.Questions.AskAsync(location.Instance, question, cancellationToken).ConfigureAwait(false) is [var found, ..]
                ? found
                : null;
        }
        catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException
            || (e is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return null;
        }
    }
}
