using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Google.Protobuf;

namespace FastPort.Site.Checks;

/// <summary>Every public type has a page in the API reference with all its members, and each has a summary.</summary>
internal static partial class ReferenceCheck
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    public static void Run(Tap tap, IReadOnlyList<HtmlPage> pages)
    {
        Dictionary<string, HtmlPage> byPath = pages.ToDictionary(static page => page.Path, StringComparer.Ordinal);
        List<string> missing = [];
        List<string> bare = [];
        int types = 0;
        int members = 0;
        foreach (Type type in Libraries.All.SelectMany(Libraries.Types))
        {
            types++;
            string id = Libraries.Id(type);
            if (!byPath.TryGetValue($"api/{id.Replace('`', '-')}.html", out HtmlPage? page))
            {
                missing.Add(id);
                continue;
            }

            string anchor = id.Replace('.', '_').Replace('`', '_');
            missing.AddRange(Members(type).Where(name => !page.Anchors.Any(one => Names(one, $"{anchor}_{name}")))
                .Select(name => $"{id}.{name}"));
            string[] parts = Part().Split(page.Text);
            members += parts.Length - 2;
            bare.AddRange(parts.Skip(1).Where(static part => !Summary().IsMatch(part)).Select(part => $"{id}: {FirstLine(part)}"));
        }

        tap.Report(
            $"the {types} public types of {Libraries.All.Count} libraries have pages in the API reference with their members", missing);
        tap.Report($"types and {members} members there have summaries", bare);
    }

    private static bool Names(string anchor, string member) => anchor == member
        || (anchor.StartsWith(member, StringComparison.Ordinal) && anchor[member.Length] == '_');

    private static IEnumerable<string> Members(Type type) =>
        typeof(Delegate).IsAssignableFrom(type) || typeof(IMessage).IsAssignableFrom(type)
        ? []
        : type.GetMembers(Declared).Where(static member => IsPublic(member) && !member.IsDefined(typeof(CompilerGeneratedAttribute)))
            .Select(static member => member.Name.Replace('.', '_')).Distinct();

    private static bool IsPublic(MemberInfo member) => member switch
    {
        MethodInfo method => !method.IsSpecialName && IsVisible(method),
        ConstructorInfo constructor => !constructor.IsStatic && IsVisible(constructor),
        FieldInfo field => !field.IsSpecialName && (field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly),
        PropertyInfo property => property.GetAccessors(nonPublic: true).Any(IsVisible),
        EventInfo added => IsVisible(added.AddMethod!),
        _ => false,
    };

    private static bool IsVisible(MethodBase method) => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;

    private static string FirstLine(string part) => Tag().Replace(part.Split("</", 2)[0], " ").Trim();

    // A type, a member, a value of an enum; then its text.
    [GeneratedRegex("<(?:h1|h3|dt) id=")]
    private static partial Regex Part();

    [GeneratedRegex(
        """\A(?:[^>]*data-uid=.*?class="markdown (?:level1 )?summary">|"[^"]*"><code>.*?</dt>.*?<dd>)\s*<p>\s*\S""",
        RegexOptions.Singleline)]
    private static partial Regex Summary();

    [GeneratedRegex("<[^>]*>|\\A[^>]*>")]
    private static partial Regex Tag();
}
