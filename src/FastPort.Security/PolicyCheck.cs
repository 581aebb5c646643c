using FastPort.Security.Files;
using FastPort.Security.Identities;
using FastPort.Security.Policies;

namespace FastPort.Security;

/// <summary>Reads a policy (<see cref="SecurityOptions.PolicyFile"/>) as the server does and reports what it allows. Immutable.</summary>
public sealed class PolicyCheck
{
    private readonly Policy? _policy;

    private PolicyCheck(Policy? policy, IReadOnlyList<string> problems) => (_policy, Problems) = (policy, problems);

    /// <summary>One sentence for each error; empty if the server would accept the policy.</summary>
    public IReadOnlyList<string> Problems { get; }

    /// <summary>Number of rules; 0 if there are errors.</summary>
    public int RuleCount => _policy?.Rules.Count ?? 0;

    /// <summary>Reads a policy.</summary>
    /// <param name="path">The file.</param>
    public static PolicyCheck Read(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        List<string> problems = [];
        try
        {
            return new PolicyCheck(PolicyReader.Read(FileBytes.Read(path, "policy", PolicyReader.MaxBytes), problems), problems);
        }
        catch (SecurityFileException e)
        {
            return new PolicyCheck(null, e.Problems);
        }
    }

    /// <summary>The permissions of a user, one line for each kind of action; empty if there are errors.</summary>
    /// <param name="user">The user's name; null for an anonymous peer.</param>
    /// <param name="roles">The user's roles.</param>
    public IReadOnlyList<string> Describe(string? user, IEnumerable<string> roles)
    {
        ArgumentNullException.ThrowIfNull(roles);
        return _policy is null ? [] : [.. _policy.For(user is null ? null : UserIdentity.Of("check", user, roles)).Describe()];
    }
}
