using System.Text.Json;
using System.Text.RegularExpressions;

namespace FastPort.Site.Checks;

/// <summary>Everything that the pages and the navigation link to within the site is there, and so are the anchors.</summary>
internal static partial class LinkCheck
{
    public static void Run(Tap tap, string site, IReadOnlyList<HtmlPage> pages)
    {
        Dictionary<string, HtmlPage> byPath = pages.ToDictionary(static page => page.Path, StringComparer.Ordinal);
        int links = 0;
        string[] broken =
        [
            .. pages.SelectMany(page => page.Targets.Select(target => (page.Path, Target: target))).Where(IsBroken)
                .Select(static link => $"{link.Path}: {link.Target}"),
        ];
        tap.Report($"the {links:N0} links within {pages.Count} pages lead to pages, files and anchors that exist", broken);

        (string Path, string Target)[] navigation =
        [
            .. Directory.EnumerateFiles(site, "toc.json", SearchOption.AllDirectories)
                .SelectMany(file => Hrefs(JsonDocument.Parse(File.ReadAllText(file)).RootElement)
                    .Select(target => (Path.GetRelativePath(site, file), target))),
        ];
        HashSet<string> reached =
        [
            .. navigation.Select(static link => Path.GetFullPath($"/{Path.GetDirectoryName(link.Path)}/{link.Target}"))
                .Select(static path => path.TrimStart('/')),
        ];
        tap.Report(
            $"the {navigation.Length:N0} links of the navigation lead to pages that exist, and to every page except the home page",
            [
                .. navigation.Where(IsBroken).Select(static link => $"{link.Path}: {link.Target}"),
                .. byPath.Keys.Where(path => path != "index.html" && !reached.Contains(path)).Select(static path => $"not to {path}"),
            ]);

        bool IsBroken((string Path, string Target) link)
        {
            if (Scheme().IsMatch(link.Target))
            {
                return false;
            }

            links++;
            string[] parts = link.Target.Split('#', 2);
            string folder = Path.GetDirectoryName(Path.Combine(site, link.Path))!;
            string file = parts[0].Length == 0
                ? Path.Combine(site, link.Path)
                : Path.GetFullPath(Path.Combine(folder, Uri.UnescapeDataString(parts[0])));
            string path = Path.GetRelativePath(site, file);
            return path.StartsWith("..", StringComparison.Ordinal) || !File.Exists(file)
                || (parts.Length == 2 && parts[1].Length != 0
                    && !(byPath.TryGetValue(path, out HtmlPage? page) && page.Anchors.Contains(Uri.UnescapeDataString(parts[1]))));
        }
    }

    private static IEnumerable<string> Hrefs(JsonElement node)
    {
        if (node.TryGetProperty("href", out JsonElement href))
        {
            yield return href.GetString()!;
        }

        if (node.TryGetProperty("items", out JsonElement items))
        {
            foreach (string below in items.EnumerateArray().SelectMany(Hrefs))
            {
                yield return below;
            }
        }
    }

    [GeneratedRegex(@"^[a-z]+:")]
    private static partial Regex Scheme();
}
