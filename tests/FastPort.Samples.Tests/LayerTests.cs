using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// The folders of FastPort.Transport and of FastPort.Core use one another as the project's table of layers in docs/architecture.md says: no
/// more, no less, and in no circle.
/// </summary>
public sealed partial class LayerTests
{
    private static readonly Dictionary<string, SortedDictionary<string, string[]>> Tables =
        new[] { "FastPort.Transport", "FastPort.Core" }.ToDictionary(static project => project, ReadTable);

    public static TheoryData<string> Projects => [.. Tables.Keys];

    public static TheoryData<string, string> Folders =>
        [.. Tables.SelectMany(static table => table.Value.Keys.Select(folder => (table.Key, folder)))];

    [Theory]
    [MemberData(nameof(Projects))]
    public void Every_folder_is_in_the_table(string project)
    {
        IEnumerable<string> folders = Directory.GetDirectories(SourceOf(project))
            .Select(static path => Path.GetFileName(path)).Where(static name => name is not ("bin" or "obj"));

        Assert.Equal(folders.Order(StringComparer.Ordinal), Tables[project].Keys.Order(StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Folders))]
    public void A_folder_uses_what_the_table_says(string project, string folder)
    {
        // A using, or a name by its namespace, which code below FastPort may begin with the folder.
        var reference = new Regex(
            $@"(?<![\w.""])(?:using (?:static )?FastPort\.|(?:FastPort\.)?(?=\w+\.[A-Z]))({string.Join('|', Tables[project].Keys)})\b");
        Dictionary<string, string> shared = Shared(project);
        var used = new SortedSet<string>(StringComparer.Ordinal);
        foreach (string file in SourcesOf(project, folder))
        {
            string text = CommentOrString().Replace(File.ReadAllText(file), string.Empty);
            used.UnionWith(reference.Matches(text).Select(static match => match.Groups[1].Value));
            used.UnionWith(Name().Matches(text).Where(match => shared.ContainsKey(match.Value)).Select(match => shared[match.Value]));
        }

        used.Remove(folder);

        Assert.Equal(Tables[project][folder].Order(StringComparer.Ordinal), used);
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void The_table_has_no_circle(string project)
    {
        var left = new Dictionary<string, string[]>(Tables[project]);
        while (left.Count != 0)
        {
            string? lowest = left.Keys.FirstOrDefault(folder => !left[folder].Any(left.ContainsKey));
            Assert.True(lowest is not null, $"These use one another: {string.Join(", ", left.Keys)}");
            left.Remove(lowest);
        }
    }

    // The folder of each type whose namespace is not its folder's: of those that users see.
    private static Dictionary<string, string> Shared(string project) => Tables[project].Keys
        .SelectMany(folder => SourcesOf(project, folder).Select(file => (folder, text: File.ReadAllText(file))))
        .Where(static source => !source.text.Contains($"namespace FastPort.{source.folder}", StringComparison.Ordinal))
        .SelectMany(static source => Declaration().Matches(source.text).Select(match => (name: match.Groups[1].Value, source.folder)))
        .DistinctBy(static type => type.name).ToDictionary(static type => type.name, static type => type.folder);

    private static IEnumerable<string> SourcesOf(string project, string folder) =>
        Directory.EnumerateFiles(Path.Combine(SourceOf(project), folder), "*.cs", SearchOption.AllDirectories);

    private static string SourceOf(string project) => Path.Combine(Repository.Root, "src", project);

    // The first table below the project's heading.
    private static SortedDictionary<string, string[]> ReadTable(string project)
    {
        string text = File.ReadAllText(Path.Combine(Repository.Root, "docs", "architecture.md"));
        string section = text[text.IndexOf($"### {project}\n", StringComparison.Ordinal)..];
        var table = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        foreach (Match row in Row().Matches(section[..section.IndexOf("|\n\n", StringComparison.Ordinal)] + "|"))
        {
            table[row.Groups[1].Value] =
                row.Groups[2].Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        }

        return table;
    }

    [GeneratedRegex(@"^\| `(\w+)` \|[^|]*\|([^|]*)\|\s*$", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(
        @"^(?:public|internal) (?:\w+ )*?(?:class|struct|interface|enum|record|delegate [\w<>?]+) (\w+)", RegexOptions.Multiline)]
    private static partial Regex Declaration();

    // Not the name of a member, which follows its type or is an enumeration's.
    [GeneratedRegex(@"(?<![\w.]|[A-Z]\w*[?>\]]* )[A-Z]\w+(?!\w|,\s*$)", RegexOptions.Multiline)]
    private static partial Regex Name();

    [GeneratedRegex(@"//.*|""(?:[^""\\\n]|\\.)*""")]
    private static partial Regex CommentOrString();
}
