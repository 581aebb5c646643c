using FastPort.Tags.Serving;

namespace FastPort.Tags;

/// <content>Changes of the sessions' permissions.</content>
public sealed partial class TagServer
{
    /// <summary>
    /// Asks the authorizer again about everything: its earlier answers are discarded, and subscription items whose tags may no longer be
    /// read end, each with one last sample of <see cref="TagStatus.BadUserAccessDenied"/>. Call it after a change of permissions. Does
    /// nothing without an authorizer. The change is complete when the call returns; the task completes when the sources no longer report
    /// the tags.
    /// </summary>
    /// <returns>The sessions and tags of the items that have ended.</returns>
    public async ValueTask<IReadOnlyList<(Session Session, string Name)>> ReviewAccessAsync()
    {
        List<(Session Session, TagSession State, TagPermissions Permissions)> reviewed = [];
        foreach ((Session session, TagSession state) in _sessions)
        {
            if (state.Permissions is { } permissions)
            {
                permissions.Review();
                reviewed.Add((session, state, permissions));
            }
        }

        // A slow source must not let another session keep a right: sources are waited for last.
        List<(Session Session, string Name)> ended = [];
        List<SubscriptionItem> items = [];
        foreach ((Session session, TagSession state, TagPermissions permissions) in reviewed)
        {
            foreach (ServedSubscription subscription in state.List())
            {
                List<SubscriptionItem> forbidden = EndForbidden(permissions, subscription);
                items.AddRange(forbidden);
                ended.AddRange(forbidden.Select(item => (session, item.Tag.Info.Name)));
            }
        }

        await SourceFeeds.RemoveAsync(items).ConfigureAwait(false);
        return ended;
    }

    // From now on the subscription gets no sample of them.
    private static List<SubscriptionItem> EndForbidden(TagPermissions permissions, ServedSubscription subscription)
    {
        List<SubscriptionItem> forbidden = [];
        foreach (SubscriptionItem item in subscription.Items.Where(item => !MayRead(permissions, item.Tag)))
        {
            lock (item.Tag.Owner.Gate)
            {
                if (item.IsEnded)
                {
                    continue;
                }

                // Also of a tag that the source does not report now: it may do so later.
                item.Status = TagStatus.BadUserAccessDenied;
                subscription.Add(item, TagSample.Bad(TagStatus.BadUserAccessDenied));
                item.IsEnded = true;
            }

            forbidden.Add(item);
        }

        subscription.Flush();
        return forbidden;
    }

    // An authorizer that throws allows nothing: one tag's must not keep the rights to the others.
    private static bool MayRead(TagPermissions permissions, ServedTag tag)
    {
        try
        {
            return permissions.Allow(tag.Id, TagAccess.Read, isAttempt: false);
        }
        catch (Exception e)
        {
            ServingLog.AuthorizerThrew(tag.Owner.Logger, e, tag.Info.Name);
            return false;
        }
    }
}
