using System.Text;
using System.Text.Json;

namespace FastPort.Security.Policies;

/// <summary>
/// Reads a policy: <c>{ "rules": [ { "for": ["role:operator"], "send": ["0x1000-0x10FF"], "subscribe": ["plant/*"] } ] }</c>. Comments and
/// trailing commas are allowed. Anything unknown is an error: a key that is not understood might have been meant to forbid something.
/// </summary>
internal static class PolicyReader
{
    /// <summary>Size of a policy in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 4 * 1024 * 1024;

    private static readonly JsonDocumentOptions Json = new()
    {
        CommentHandling = JsonCommentHandling.Skip,
        AllowTrailingCommas = true,
        MaxDepth = 8,
        AllowDuplicateProperties = false,
    };

    /// <summary>Reads a policy.</summary>
    /// <param name="utf8">The text.</param>
    /// <param name="problems">Receives one sentence for each error.</param>
    /// <returns>Null if there is an error.</returns>
    public static Policy? Read(ReadOnlyMemory<byte> utf8, ICollection<string> problems)
    {
        if (utf8.Length > MaxBytes)
        {
            problems.Add($"The policy has {utf8.Length} bytes; at most {MaxBytes} are read.");
            return null;
        }

        if (utf8.Span.StartsWith(Encoding.UTF8.Preamble))
        {
            utf8 = utf8[Encoding.UTF8.Preamble.Length..];
        }

        try
        {
            using var document = JsonDocument.Parse(utf8, Json);
            return Read(document.RootElement, problems);
        }
        catch (InvalidOperationException e)
        {
            // A string with half of a surrogate pair is detected when it is read.
            problems.Add($"The policy has an invalid string: {e.Message}");
            return null;
        }
        catch (JsonException e)
        {
            problems.Add($"The policy is not JSON: {e.Message}");
            return null;
        }
    }

    /// <summary>The key of an action in a rule.</summary>
    public static string KeyOf(PolicyAction action) => action switch
    {
        PolicyAction.RelayTo => "relayTo",
        PolicyAction.Publish => "publish",
        PolicyAction.Subscribe => "subscribe",
        PolicyAction.ReadTags => "readTags",
        PolicyAction.WriteTags => "writeTags",
        PolicyAction.CallMethods => "callMethods",
        _ => "publishTags",
    };

    private static Policy? Read(JsonElement root, ICollection<string> problems)
    {
        int before = problems.Count;
        List<PolicyRule> rules = [];
        if (root.ValueKind != JsonValueKind.Object)
        {
            problems.Add("The policy is not an object; write { \"rules\": [ ... ] }.");
            return null;
        }

        bool found = false;
        foreach (JsonProperty property in root.EnumerateObject())
        {
            if (property.Name != "rules")
            {
                problems.Add($"'{property.Name}' is unknown; a policy has one key, \"rules\".");
            }
            else if (property.Value.ValueKind != JsonValueKind.Array)
            {
                problems.Add("\"rules\" is not an array.");
            }
            else
            {
                int index = 0;
                foreach (JsonElement rule in property.Value.EnumerateArray())
                {
                    rules.Add(ReadRule(rule, $"rules[{index++}]", problems));
                }
            }

            found |= property.Name == "rules";
        }

        if (!found)
        {
            problems.Add("The policy has no \"rules\"; write \"rules\": [] to allow nothing.");
        }

        return problems.Count == before ? new Policy(rules) : null;
    }

    private static PolicyRule ReadRule(JsonElement element, string path, ICollection<string> problems)
    {
        List<string> whom = [];
        var send = new TypeSet();
        bool peers = false;
        int before = problems.Count;
        Dictionary<PolicyAction, IReadOnlyList<string>> names = [];
        if (element.ValueKind != JsonValueKind.Object)
        {
            problems.Add($"{path} is not an object.");
        }
        else
        {
            foreach (JsonProperty property in element.EnumerateObject())
            {
                string at = $"{path}.{property.Name}";
                switch (property.Name)
                {
                    case "for":
                        whom = Texts(property.Value, at, problems, IsSubject, "user:NAME, role:NAME, authenticated, anonymous or *");
                        break;
                    case "send":
                        Texts(property.Value, at, problems, send.TryAdd, "a type such as 0x1000, a range such as 0x1000-0x10FF, or *");
                        break;
                    case "peers" when property.Value.ValueKind is JsonValueKind.True or JsonValueKind.False:
                        peers = property.Value.GetBoolean();
                        break;
                    case "peers":
                        problems.Add($"{at} is {property.Value.GetRawText()}; allowed: true, false.");
                        break;
                    case "note" when property.Value.ValueKind == JsonValueKind.String:
                        break;
                    default:
                        ReadNames(property, at, names, problems);
                        break;
                }
            }

            if (whom.Count == 0 && problems.Count == before)
            {
                problems.Add($"{path} has no \"for\": it would apply to nobody.");
            }
        }

        return new PolicyRule { For = whom, Send = send, Names = names, Peers = peers };
    }

    private static void ReadNames(
        JsonProperty property, string at, Dictionary<PolicyAction, IReadOnlyList<string>> names, ICollection<string> problems)
    {
        foreach (PolicyAction action in Enum.GetValues<PolicyAction>())
        {
            if (property.NameEquals(KeyOf(action)))
            {
                bool wholeOnly = action == PolicyAction.Subscribe;
                names[action] = Texts(
                    property.Value, at, problems, text => IsPattern(text) && (!wholeOnly || NamePatterns.IsPrefix(text)),
                    wholeOnly
                        ? "a prefix followed by *: a subscription always covers all topics with a prefix"
                        : "a name, or a prefix followed by *");
                return;
            }
        }

        IEnumerable<string> keys = Enum.GetValues<PolicyAction>().Select(KeyOf).Concat(["for", "send", "peers", "note"]);
        problems.Add($"{at} is unknown; a rule has the keys {string.Join(", ", keys)}.");
    }

    private static List<string> Texts(
        JsonElement array, string at, ICollection<string> problems, Predicate<string> isAllowed, string allowed)
    {
        List<string> texts = [];
        if (array.ValueKind != JsonValueKind.Array)
        {
            problems.Add($"{at} is not an array.");
            return texts;
        }

        foreach (JsonElement element in array.EnumerateArray())
        {
            string? text = element.ValueKind == JsonValueKind.String ? element.GetString() : null;
            if (text is not null && isAllowed(text))
            {
                texts.Add(text);
            }
            else
            {
                problems.Add($"{at} has {element.GetRawText()}; allowed: {allowed}.");
            }
        }

        return texts;
    }

    private static bool IsSubject(string text) => text is "*" or "authenticated" or "anonymous"
        || ((text.StartsWith("user:", StringComparison.Ordinal) || text.StartsWith("role:", StringComparison.Ordinal))
            && text.Length > 5 && IsPattern(text[5..]));

    // One star at most, at the end: a star in the middle looks as if it meant something.
    private static bool IsPattern(string text) => text.Length != 0 && text.IndexOf('*', StringComparison.Ordinal) is var star
        && (star < 0 || star == text.Length - 1);
}
