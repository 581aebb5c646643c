namespace FastPort.Routing;

/// <summary>
/// Lists the sessions that have routing ids, in ordinal order of the ids, page by page. Each page visits all of them. Thread-safe.
/// </summary>
internal sealed class PeerDirectory(IdentityRegistry identities) : IPeers
{
    /// <summary>Peers per page if the query has no limit.</summary>
    public const int DefaultPage = 100;

    /// <summary>Maximum number of peers per page.</summary>
    public const int LargestPage = 1000;

    private static readonly Comparer<string> LastFirst = Comparer<string>.Create(static (x, y) => string.CompareOrdinal(y, x));

    /// <summary>Answers Peers. A queued handler: visiting many sessions would block a loop.</summary>
    public static async ValueTask HandleAsync(IPeers peers, RequestContext context)
    {
        if (!PeersQueryBody.TryRead(context.Body.Span, out PeersQueryBody query))
        {
            context.Fail(ErrorCode.MalformedBody, "The body is not a valid PeersQuery message.");
            return;
        }

        int limit = query.Limit == 0 ? DefaultPage : (int)Math.Min(query.Limit, LargestPage);
        IReadOnlyList<PeerInfo> page = await peers.ListAsync(query.Prefix, limit, query.After, context.Aborted).ConfigureAwait(false);
        int fitting = 0;
        for (long size = 0; fitting < page.Count; fitting++)
        {
            size += PeerListBody.EntrySize(page[fitting]);
            if (size > context.Session.MaxBodyBytes)
            {
                break;
            }
        }

        context.Reply(new PeerListBody([.. page.Take(fitting)]));
    }

    ValueTask<PeerInfo?> IPeers.FindAsync(string routingId, CancellationToken cancellationToken) =>
        new(identities.Find(routingId)?.Session is { } session ? PeerInfo.Of(session) : null);

    ValueTask<bool> IPeers.KickAsync(string routingId, ErrorCode code, string reason, CancellationToken cancellationToken)
    {
        Session? session = identities.Find(routingId)?.Session;
        session?.Kick(code, reason);
        return new(session is not null);
    }

    ValueTask<IReadOnlyList<PeerInfo>> IPeers.ListAsync(string prefix, int limit, string after, CancellationToken cancellationToken) =>
        new(List(prefix, limit, after));

    /// <summary>The first peers whose id has the prefix and follows the given id.</summary>
    public List<PeerInfo> List(string prefix, int limit, string after)
    {
        // The first sessions in order so far, with the last of them on top, so that one comparison decides about the next session.
        var best = new PriorityQueue<Session, string>(LastFirst);
        foreach (RoutingIdentity identity in identities.All)
        {
            string id = identity.Id;
            if (identity.Session is not { } session
                || !id.StartsWith(prefix, StringComparison.Ordinal)
                || (after.Length != 0 && string.CompareOrdinal(id, after) <= 0))
            {
                continue;
            }

            if (best.Count < limit)
            {
                best.Enqueue(session, id);
            }
            else
            {
                best.EnqueueDequeue(session, id);
            }
        }

        var page = new List<PeerInfo>(best.Count);
        while (best.TryDequeue(out Session? session, out _))
        {
            page.Add(PeerInfo.Of(session));
        }

        page.Reverse();
        return page;
    }
}
