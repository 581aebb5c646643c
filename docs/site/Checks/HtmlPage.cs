using System.Net;
using System.Text.RegularExpressions;

namespace FastPort.Site.Checks;

/// <summary>The text of a page that docfx has written.</summary>
internal sealed partial class HtmlPage
{
    private readonly Lazy<HashSet<string>> _anchors;

    /// <param name="site">The folder of the site.</param>
    /// <param name="file">The page's file.</param>
    public HtmlPage(string site, string file)
    {
        Path = System.IO.Path.GetRelativePath(site, file);
        Text = File.ReadAllText(file);
        _anchors = new(() => [.. Anchor().Matches(Text).Select(static match => WebUtility.HtmlDecode(match.Groups["id"].Value))]);
    }

    /// <summary>The path on the site.</summary>
    public string Path { get; }

    public string Text { get; }

    public IReadOnlySet<string> Anchors => _anchors.Value;

    /// <summary>What the page links to and loads.</summary>
    public IEnumerable<string> Targets =>
        Target().Matches(Text).Select(static match => WebUtility.HtmlDecode(match.Groups["target"].Value));

    [GeneratedRegex("\\s(?:id|name)=\"(?<id>[^\"]*)\"")]
    private static partial Regex Anchor();

    [GeneratedRegex("<[^>]*?\\s(?:href|src)=\"(?<target>[^\"]*)\"")]
    private static partial Regex Target();
}
