using System.Text.RegularExpressions;

namespace FastPort.Site.Preparing;

/// <summary>
/// Rewrites the links of a page that moves. A link to a file that is not on the site becomes one to the repository's host, or, where none
/// is known, the file's path. A link whose text is the name of a page's file shows the page's title.
/// </summary>
/// <param name="sitePath">The path on the site of a path in the repository; null for none.</param>
/// <param name="title">The title of the page with a path in the repository.</param>
internal sealed partial class Links(Func<string, string?> sitePath, Func<string, string> title)
{
    /// <param name="text">The page.</param>
    /// <param name="from">Its path in the repository.</param>
    /// <param name="to">Its path on the site, or in the repository if it is moved once more.</param>
    public string Rewrite(string text, string from, string to)
    {
        bool staysInRepository = to.StartsWith("docs/site/", StringComparison.Ordinal);
        return string.Concat(Fence().Split(text).Select((part, i) => i % 2 == 1 ? part : Link().Replace(part, One)));

        string One(Match link)
        {
            string text = link.Groups["text"].Value;
            string[] target = link.Groups["target"].Value.Split('#', 2);
            if (target[0].Length == 0)
            {
                return link.Value;
            }

            string path = Path.GetRelativePath("/", Path.GetFullPath(Path.Combine("/", Path.GetDirectoryName(from)!, target[0])));
            string anchor = target.Length == 2 ? $"#{target[1]}" : string.Empty;
            if ((staysInRepository ? path : sitePath(path)) is { } moved)
            {
                string shown = text.EndsWith(".md", StringComparison.Ordinal) ? title(path) : text;
                return $"[{shown}]({Path.GetRelativePath(Path.Combine("/", Path.GetDirectoryName(to)!), $"/{moved}")}{anchor})";
            }

            return Libraries.RepositoryUrl is { } url ? $"[{text}]({url}/blob/v{Libraries.Version}/{path}{anchor})" : $"`{path}`";
        }
    }

    [GeneratedRegex(@"\[(?<text>[^\[\]]*)\]\((?!\w+:)(?<target>[^)\s]+)\)")]
    private static partial Regex Link();

    // The parts between matches are outside of blocks of code.
    [GeneratedRegex("(?<block>^```.*?^```)", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Fence();
}
