using System.Text.Json;

namespace FastPort.Security.Identities;

/// <summary>Finds the roles in a token, in the claim that its issuer uses.</summary>
internal static class TokenRoles
{
    /// <summary>The roles.</summary>
    /// <param name="claims">The token's claims.</param>
    /// <param name="path">
    /// Name of the claim, or names with dots in between that lead to it. Names may contain dots, such as <c>https://example.com/roles</c>:
    /// the longest existing name is used.
    /// </param>
    /// <param name="separator">The separator of the roles in a string; empty if a string is one role.</param>
    public static IEnumerable<string> Find(JsonElement claims, string path, string separator) =>
        FindClaim(claims, path) is not { } claim ? []
        : claim.ValueKind == JsonValueKind.Array ? claim.EnumerateArray().SelectMany(one => Split(one, separator))
        : Split(claim, separator);

    private static JsonElement? FindClaim(JsonElement parent, string path)
    {
        if (parent.ValueKind != JsonValueKind.Object)
        {
            return null;
        }

        if (parent.TryGetProperty(path, out JsonElement claim))
        {
            return claim;
        }

        for (int dot = path.LastIndexOf('.'); dot > 0; dot = path.LastIndexOf('.', dot - 1))
        {
            if (parent.TryGetProperty(path[..dot], out JsonElement child) && FindClaim(child, path[(dot + 1)..]) is { } found)
            {
                return found;
            }
        }

        return null;
    }

    private static string[] Split(JsonElement value, string separator) => value.ValueKind switch
    {
        JsonValueKind.String when separator.Length == 0 => [value.GetString()!],
        JsonValueKind.String => value.GetString()!.Split(
            separator, StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries),
        JsonValueKind.Number or JsonValueKind.True or JsonValueKind.False => [value.GetRawText()],
        _ => [],
    };
}
