using System.Collections.Frozen;

namespace FastPort.Security.Policies;

/// <summary>
/// Names that a policy allows: a pattern is a whole name, or a prefix followed by <c>*</c>. Names are compared character by character.
/// Immutable.
/// </summary>
internal sealed class NamePatterns
{
    private readonly FrozenSet<string> _names;
    private readonly string[] _prefixes;

    public NamePatterns(IEnumerable<string> patterns)
    {
        string[] all = [.. patterns];
        _names = all.Where(static p => !IsPrefix(p)).ToFrozenSet(StringComparer.Ordinal);
        string[] prefixes = [.. all.Where(IsPrefix).Select(static p => p[..^1]).Distinct(StringComparer.Ordinal)];

        // A prefix of another prefix makes the longer one redundant.
        _prefixes = [.. prefixes.Where(p => !Array.Exists(prefixes, q => q != p && p.StartsWith(q, StringComparison.Ordinal)))];
    }

    /// <summary>Whether nothing is allowed.</summary>
    public bool IsEmpty => _names.Count == 0 && _prefixes.Length == 0;

    /// <summary>Whether a pattern is a prefix.</summary>
    public static bool IsPrefix(string pattern) => pattern.EndsWith('*');

    /// <summary>Whether a name is allowed.</summary>
    public bool Allow(string name) => _names.Contains(name) || AllowAllOf(name);

    /// <summary>Whether every name that begins with a prefix is allowed.</summary>
    public bool AllowAllOf(string prefix)
    {
        foreach (string allowed in _prefixes)
        {
            if (prefix.StartsWith(allowed, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether this name, or some name that begins with it, is allowed.</summary>
    public bool AllowAnyOf(string start) => AllowAllOf(start)
        || Array.Exists(_prefixes, allowed => allowed.StartsWith(start, StringComparison.Ordinal))
        || _names.Any(name => name.StartsWith(start, StringComparison.Ordinal));

    /// <summary>The patterns, sorted, for people.</summary>
    public override string ToString() => IsEmpty
        ? "nothing"
        : string.Join(", ", _names.Concat(_prefixes.Select(static p => p + "*")).Order(StringComparer.Ordinal));
}
