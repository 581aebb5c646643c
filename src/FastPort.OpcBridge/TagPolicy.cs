using System.Runtime.CompilerServices;
using FastPort.Security;
using FastPort.Tags;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.OpcBridge;

/// <summary>The policy's rules about tags, for the server of tags. Thread-safe.</summary>
internal sealed class TagPolicy(ServerPolicy policy)
{
    /// <summary>The authorizer of the host's policy; null where there is none. Not inlined: see <c>SecuritySection</c>.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static TagAuthorizer? Find(IServiceProvider provider) =>
        provider.GetService<ServerPolicy>() is { } policy ? new TagPolicy(policy).Authorize : null;

    /// <summary>From now on a change of the host's policy ends what it forbids.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Watch(IServiceProvider provider, TagServer tags, PublishedTagSource? published)
    {
        if (provider.GetService<ServerPolicy>() is { } policy)
        {
            policy.Changed += () => _ = new TagPolicy(policy).ReviewAsync(tags, published);
        }
    }

    private bool Authorize(Session session, TagAccess access, string name, bool isAttempt)
    {
        PolicyAction action = access switch
        {
            TagAccess.Write => PolicyAction.WriteTags,
            TagAccess.Call => PolicyAction.CallMethods,
            TagAccess.Publish => PolicyAction.PublishTags,
            _ => PolicyAction.ReadTags,
        };
        return access == TagAccess.Browse
            ? policy.AllowsAnyOf(session, PolicyAction.ReadTags, name) || policy.AllowsAnyOf(session, PolicyAction.CallMethods, name)
            : isAttempt ? policy.Authorize(session, action, name)
            : policy.Allows(session, action, name);
    }

    private async Task ReviewAsync(TagServer tags, PublishedTagSource? published)
    {
        // Not on the thread that has read the policy: sources may be slow to end a feed.
        await Task.Yield();
        foreach ((Session session, string name) in published?.ReviewAccess() ?? [])
        {
            policy.AuditEnd(session, PolicyAction.PublishTags, name);
        }

        foreach ((Session session, string name) in await tags.ReviewAccessAsync().ConfigureAwait(false))
        {
            policy.AuditEnd(session, PolicyAction.ReadTags, name);
        }
    }
}
