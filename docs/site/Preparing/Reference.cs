using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace FastPort.Site.Preparing;

/// <summary>What the API reference is made of: the libraries with their documentation comments, and the page of all libraries.</summary>
internal static partial class Reference
{
    private const BindingFlags Constructors =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.DeclaredOnly;

    /// <param name="target">The folder that docfx builds: libraries go to lib, the page to api.</param>
    public static void Prepare(string target)
    {
        string lib = Directory.CreateDirectory(Path.Combine(target, "lib")).FullName;
        foreach (string file in Directory.EnumerateFiles(Libraries.Folder, "*.dll"))
        {
            File.Copy(file, Path.Combine(lib, Path.GetFileName(file)));
        }

        File.Delete(Path.Combine(lib, $"{typeof(Reference).Assembly.GetName().Name}.dll"));
        foreach (Assembly library in Libraries.All)
        {
            string name = $"{library.GetName().Name}.xml";
            XDocument comments = XDocument.Load(Path.Combine(Libraries.Folder, name), LoadOptions.PreserveWhitespace);
            AddConstructors(library, comments.Root!.Element("members")!);
            comments.Save(Path.Combine(lib, name), SaveOptions.DisableFormatting);
        }

        Directory.CreateDirectory(Path.Combine(target, "api"));
        File.WriteAllText(Path.Combine(target, "api", "index.md"), Page());
    }

    /// <summary>Turns the names of types in the rows of a page's tables into links to their pages of the reference.</summary>
    /// <param name="page">The page.</param>
    public static string LinkTypes(string page)
    {
        ILookup<string, Type> types = Libraries.All.SelectMany(Libraries.Types).ToLookup(static type => type.Name.Split('`')[0]);
        return Name().Replace(page, match => types[match.Groups["name"].Value].FirstOrDefault() is { } type
            ? $"[{match.Value}](xref:{Uri.EscapeDataString(Libraries.Id(type))})"
            : match.Value);
    }

    // A constructor that the compiler adds cannot have a comment. The compiler demands one for every other public constructor.
    private static void AddConstructors(Assembly library, XElement members)
    {
        HashSet<string> commented = [.. members.Elements("member").Select(static member => member.Attribute("name")!.Value)];
        foreach (Type type in Libraries.Types(library).Where(static type => type is { IsValueType: false, IsInterface: false }))
        {
            string name = $"M:{Libraries.Id(type)}.#ctor";
            if (type.GetConstructor(Constructors, []) is { IsAssembly: false, IsPrivate: false } && !commented.Contains(name))
            {
                // The line break is for docfx: findings/docfx-skips-comments-that-follow-without-white-space.sh.
                members.Add("\n", new XElement(
                    "member", new XAttribute("name", name), new XElement("summary", "Creates an instance with default values.")));
            }
        }
    }

    private static string Page()
    {
        var page = new StringBuilder("---\nuid: api\n---\n\n# API reference\n\nThe public types of FastPort's libraries. ")
            .Append("[Public types](../docs/public-api.md) lists them by purpose.\n");
        foreach (Assembly library in Libraries.All)
        {
            IEnumerable<string> namespaces = Libraries.Types(library).Select(static type => type.Namespace!).Distinct()
                .Order(StringComparer.Ordinal).Select(static name => $"- [{name}](xref:{name})\n");
            page.Append("\n## ").Append(library.GetName().Name).Append("\n\n")
                .Append(library.GetCustomAttribute<AssemblyDescriptionAttribute>()!.Description).Append("\n\n")
                .AppendJoin(string.Empty, namespaces);
        }

        return page.ToString();
    }

    [GeneratedRegex(@"(?<=^\|.*)`(?<name>\w+)`", RegexOptions.Multiline)]
    private static partial Regex Name();
}
