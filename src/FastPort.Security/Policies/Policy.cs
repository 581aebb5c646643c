using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Security.Claims;

namespace FastPort.Security.Policies;

/// <summary>
/// Rules, and the permissions that they grant to identities. Everything that no rule allows is refused. Immutable; safe from any thread.
/// </summary>
internal sealed class Policy(IReadOnlyList<PolicyRule> rules)
{
    // By identity, so that a message costs a lookup; entries go with their identities.
    private readonly ConditionalWeakTable<ClaimsPrincipal, Grants> _byUser = [];

    // By the rules that apply: thousands of identities share a few.
    private readonly ConcurrentDictionary<string, Grants> _byRules = new(StringComparer.Ordinal);
    private readonly Grants _anonymous = new([.. rules.Where(static r => r.IsFor(null))]);

    /// <summary>The rules.</summary>
    public IReadOnlyList<PolicyRule> Rules => rules;

    /// <summary>The permissions of an identity.</summary>
    /// <param name="user">The identity; null for an anonymous peer.</param>
    public Grants For(ClaimsPrincipal? user) => user is null ? _anonymous
        : _byUser.TryGetValue(user, out Grants? grants) ? grants
        : _byUser.GetValue(user, Find);

    /// <summary>Whether there are rules for roles, and none of them is for a role of the identity.</summary>
    /// <param name="user">The identity.</param>
    public bool HasNoRoleOf(ClaimsPrincipal user) =>
        rules.Any(static rule => rule.IsForRoles) && !rules.Any(rule => rule.IsForRoleOf(user));

    private Grants Find(ClaimsPrincipal user)
    {
        bool[] applies = [.. rules.Select(rule => rule.IsFor(user))];
        return _byRules.GetOrAdd(
            string.Create(applies.Length, applies, static (key, flags) =>
            {
                for (int i = 0; i < key.Length; i++)
                {
                    key[i] = flags[i] ? '1' : '0';
                }
            }),
            _ => new Grants([.. rules.Where((_, i) => applies[i])]));
    }
}
