using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.RegularExpressions;

namespace FastPort.Site.Preparing;

/// <summary>
/// The navigation beside the pages, made from the list in docs/README.md: its headings, the lines that end with a colon, and the links.
/// Below a page that has a folder of pages (measurements.md and measurements/, decisions/README.md) are those that it links to.
/// </summary>
/// <param name="read">Reads a page of the repository.</param>
/// <param name="title">The title of a page of the repository.</param>
internal sealed partial class Navigation(Func<string, string> read, Func<string, string> title)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    };

    /// <summary>The table of contents for docfx: JSON, which YAML includes.</summary>
    public string Toc()
    {
        List<Entry> toc = [new("All pages", "index.md")];
        List<Entry> group = toc;
        foreach (string line in read("docs/README.md").Split('\n'))
        {
            if (Heading().Match(line) is { Success: true } heading)
            {
                group = [];
                toc.Add(new Entry(heading.Groups["name"].Value, Items: group, Expanded: true));
            }
            else if (Subheading().Match(line) is { Success: true } subheading)
            {
                group = [];
                toc[^1].Items!.Add(new Entry(subheading.Groups["name"].Value, Items: group));
            }
            else if (Item().Match(line) is { Success: true } item)
            {
                string page = item.Groups["page"].Value;
                group.Add(new Entry(
                    item.Groups["name"].Value, page.Replace("README.md", "index.md", StringComparison.Ordinal), Below(page)));
            }
        }

        return JsonSerializer.Serialize(toc, Json);
    }

    private List<Entry>? Below(string page)
    {
        bool isIndex = Path.GetFileName(page) == "README.md";
        string folder = isIndex ? Path.GetDirectoryName(page)! : Path.ChangeExtension(page, null);
        string prefix = isIndex ? string.Empty : $"{folder}/";
        List<Entry> pages =
        [
            .. Target().Matches(read($"docs/{page}")).Select(static link => link.Groups["page"].Value).Distinct()
                .Where(target => target.StartsWith(prefix, StringComparison.Ordinal) && target.IndexOf('/', prefix.Length) < 0)
                .Select(target => $"{folder}/{target[prefix.Length..]}")
                .Select(path => new Entry(title($"docs/{path}"), path)),
        ];
        return pages.Count == 0 ? null : pages;
    }

    private sealed record Entry(string Name, string? Href = null, List<Entry>? Items = null, bool? Expanded = null);

    [GeneratedRegex(@"^## (?<name>.*)$")]
    private static partial Regex Heading();

    [GeneratedRegex(@"^(?<name>\w.*):$")]
    private static partial Regex Subheading();

    [GeneratedRegex(@"^- \[(?<name>.*?)\]\((?<page>.*?)\)")]
    private static partial Regex Item();

    [GeneratedRegex(@"\]\((?<page>[\w./-]+\.md)\)")]
    private static partial Regex Target();
}
