using System.Security.Claims;

namespace FastPort.Security.Policies;

/// <summary>One rule of a policy: the identities that it is for, and their permissions. Immutable.</summary>
internal sealed class PolicyRule
{
    /// <summary>
    /// The identities that the rule is for, any of them: <c>user:NAME</c> and <c>role:NAME</c>, each a name or a prefix with <c>*</c>;
    /// <c>authenticated</c>, <c>anonymous</c>, or <c>*</c> for all.
    /// </summary>
    public required IReadOnlyList<string> For { get; init; }

    /// <summary>Message types that they may send, apart from the framework's and those of tags.</summary>
    public required TypeSet Send { get; init; }

    /// <summary>Patterns of names by action.</summary>
    public required IReadOnlyDictionary<PolicyAction, IReadOnlyList<string>> Names { get; init; }

    /// <summary>Whether they may list peers.</summary>
    public required bool Peers { get; init; }

    /// <summary>Whether the rule is for an identity.</summary>
    /// <param name="user">The identity; null for an anonymous peer.</param>
    public bool IsFor(ClaimsPrincipal? user)
    {
        bool known = user?.Identity?.IsAuthenticated == true;
        foreach (string whom in For)
        {
            bool matches = whom switch
            {
                "*" => true,
                "anonymous" => !known,
                "authenticated" => known,
                _ when !known => false,
                _ when whom.StartsWith("user:", StringComparison.Ordinal) => Matches(whom.AsSpan(5), user!.Identity!.Name),
                _ => HasRole(whom.AsSpan(5), user!),
            };
            if (matches)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether it is for roles.</summary>
    public bool IsForRoles => For.Any(IsRole);

    /// <summary>Whether it is for one of the roles of an identity.</summary>
    /// <param name="user">The identity.</param>
    public bool IsForRoleOf(ClaimsPrincipal user) => For.Any(whom => IsRole(whom) && HasRole(whom.AsSpan(5), user));

    private static bool IsRole(string whom) => whom.StartsWith("role:", StringComparison.Ordinal);

    private static bool HasRole(ReadOnlySpan<char> pattern, ClaimsPrincipal user)
    {
        foreach (ClaimsIdentity identity in user.Identities)
        {
            foreach (Claim claim in identity.Claims)
            {
                if (claim.Type == identity.RoleClaimType && Matches(pattern, claim.Value))
                {
                    return true;
                }
            }
        }

        return false;
    }

    private static bool Matches(ReadOnlySpan<char> pattern, string? name) => name is not null
        && (pattern is [.. var prefix, '*'] ? name.AsSpan().StartsWith(prefix, StringComparison.Ordinal) : pattern.SequenceEqual(name));
}
