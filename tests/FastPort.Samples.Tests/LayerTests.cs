using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// The folders of FastPort.Core use one another as the table of layers in docs/architecture.md says: no more, no less, and in no circle.
/// </summary>
public sealed partial class LayerTests
{
    private static readonly string Core = Path.Combine(Repository.Root, "src", "FastPort.Core");

    private static readonly SortedDictionary<string, string[]> Table = ReadTable();

    // A using, or a name by its namespace, which code below FastPort may begin with the folder.
    private static readonly Regex Reference =
        new($@"(?<![\w.""])(?:using (?:static )?FastPort\.|(?:FastPort\.)?(?=\w+\.[A-Z]))({string.Join('|', Table.Keys)})\b");

    public static TheoryData<string> Folders => [.. Table.Keys];

    [Fact]
    public void Every_folder_is_in_the_table()
    {
        IEnumerable<string> folders =
            Directory.GetDirectories(Core).Select(static path => Path.GetFileName(path)).Where(static name => name is not ("bin" or "obj"));

        Assert.Equal(folders.Order(StringComparer.Ordinal), Table.Keys.Order(StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Folders))]
    public void A_folder_uses_what_the_table_says(string folder)
    {
        var used = new SortedSet<string>(StringComparer.Ordinal);
        foreach (string file in Directory.EnumerateFiles(Path.Combine(Core, folder), "*.cs", SearchOption.AllDirectories))
        {
            foreach (Match reference in Reference.Matches(File.ReadAllText(file)))
            {
                used.Add(reference.Groups[1].Value);
            }
        }

        used.Remove(folder);

        Assert.Equal(Table[folder].Order(StringComparer.Ordinal), used);
    }

    [Fact]
    public void The_table_has_no_circle()
    {
        var left = new Dictionary<string, string[]>(Table);
        while (left.Count != 0)
        {
            string? lowest = left.Keys.FirstOrDefault(folder => !left[folder].Any(left.ContainsKey));
            Assert.True(lowest is not null, $"These use one another: {string.Join(", ", left.Keys)}");
            left.Remove(lowest);
        }
    }

    private static SortedDictionary<string, string[]> ReadTable()
    {
        string text = File.ReadAllText(Path.Combine(Repository.Root, "docs", "architecture.md"));
        string section = text[text.IndexOf("## Layers", StringComparison.Ordinal)..];
        var table = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        foreach (Match row in Row().Matches(section[..section.IndexOf("A **connection**", StringComparison.Ordinal)]))
        {
            table[row.Groups[1].Value] =
                row.Groups[2].Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        }

        return table;
    }

    [GeneratedRegex(@"^\| `(\w+)` \|[^|]*\|([^|]*)\|\s*$", RegexOptions.Multiline)]
    private static partial Regex Row();
}
