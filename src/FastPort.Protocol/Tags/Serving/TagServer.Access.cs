using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Serving;

/// <content>Changes of what sessions may do.</content>
public sealed partial class TagServer
{
    /// <summary>
    /// Asks the authorizer again about everything: what it has answered before is forgotten, and items of subscriptions whose tags may not
    /// be read any more end, each with one last sample of <see cref="TagStatus.BadUserAccessDenied"/>. Call it after a change of what is
    /// allowed. Does nothing without an authorizer.
    /// </summary>
    /// <returns>The sessions and tags of the items that have ended.</returns>
    public async ValueTask<IReadOnlyList<(Session Session, string Name)>> ReviewAccessAsync()
    {
        List<(Session Session, string Name)> ended = [];
        foreach ((Session session, TagSession state) in _sessions)
        {
            if (state.Permissions is not { } permissions)
            {
                continue;
            }

            permissions.Review();
            foreach (ServedSubscription subscription in state.List())
            {
                ended.AddRange((await ReviewAsync(permissions, subscription).ConfigureAwait(false)).Select(name => (session, name)));
            }
        }

        return ended;
    }

    private static async ValueTask<IEnumerable<string>> ReviewAsync(TagPermissions permissions, ServedSubscription subscription)
    {
        SubscriptionItem[] forbidden = [.. subscription.Items.Where(item =>
            item.Status.IsGood && !permissions.Allow(item.Tag.Id, TagAccess.Read, isAttempt: false))];
        foreach (IGrouping<ServedSource, SubscriptionItem> group in forbidden.GroupBy(static item => item.Tag.Owner))
        {
            await SourceFeeds.RemoveAsync(group).ConfigureAwait(false);
            lock (group.Key.Gate)
            {
                foreach (SubscriptionItem item in group)
                {
                    item.Status = TagStatus.BadUserAccessDenied;
                    subscription.Add(item, TagSample.Bad(TagStatus.BadUserAccessDenied));
                }
            }
        }

        subscription.Flush();
        return forbidden.Select(static item => item.Tag.Info.Name);
    }
}
