using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>Links between the documents lead to files and headings that exist, and every decision record is in the index.</summary>
public sealed partial class LinkTests
{
    private static readonly string Docs = Path.Combine(Repository.Root, "docs");

    // docs/site has the program that builds the site, which is checked itself.
    private static IEnumerable<string> Documents => Directory.EnumerateFiles(Docs, "*.md", SearchOption.AllDirectories)
        .Where(static file => !file.StartsWith(Path.Combine(Docs, "site") + Path.DirectorySeparatorChar, StringComparison.Ordinal))
        .Append(Path.Combine(Repository.Root, "README.md")).Append(Path.Combine(Repository.Root, "CHANGELOG.md"));

    [Fact]
    public void Every_link_leads_somewhere()
    {
        string[] broken = [.. Documents.SelectMany(Broken)];

        Assert.True(broken.Length == 0, string.Join('\n', broken));
    }

    [Fact]
    public void Every_decision_is_in_the_index()
    {
        string folder = Path.Combine(Docs, "decisions");
        string index = File.ReadAllText(Path.Combine(folder, "README.md"));

        string[] missing =
        [
            .. Directory.EnumerateFiles(folder, "*.md").Select(static file => Path.GetFileName(file))
                .Where(name => name != "README.md" && !index.Contains($"]({name})", StringComparison.Ordinal)),
        ];

        Assert.Empty(missing);
    }

    private static IEnumerable<string> Broken(string document)
    {
        string text = Fence().Replace(File.ReadAllText(document), "");
        foreach (string target in Link().Matches(text).Select(static link => link.Groups[1].Value))
        {
            string[] parts = target.Split('#');
            string file = parts[0].Length == 0 ? document : Path.GetFullPath(Path.Combine(Path.GetDirectoryName(document)!, parts[0]));
            bool exists = File.Exists(file) || (parts.Length == 1 && Directory.Exists(file));
            if (!exists || (parts.Length == 2 && !Anchors(file).Contains(parts[1])))
            {
                yield return $"{Path.GetRelativePath(Repository.Root, document)}: {target}";
            }
        }
    }

    // As GitHub makes them: lower case, punctuation left out, blanks as hyphens.
    private static IEnumerable<string> Anchors(string file) => File.ReadLines(file).Where(static line => line.StartsWith('#'))
        .Select(static line => Punctuation().Replace(line.TrimStart('#').Trim().ToLowerInvariant(), "").Replace(' ', '-'));

    [GeneratedRegex(@"\]\((?!\w+://)([^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex("^```.*?^```", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Fence();

    [GeneratedRegex(@"[^\w\- ]")]
    private static partial Regex Punctuation();
}
