using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// Lines of documents and code have at most 140 characters. Excepted are rows of Markdown tables, lines that a URL makes long, and
/// generated files.
/// </summary>
public sealed class LineLengthTests
{
    private const int MaxLength = 140;

    public static TheoryData<string> Roots => ["docs", "src", "samples", "tests", "benchmarks", "fuzz", "README.md", "CHANGELOG.md"];

    [Theory]
    [MemberData(nameof(Roots))]
    public void No_line_is_longer_than_140_characters(string root)
    {
        string path = Path.Combine(Repository.Root, root);
        IEnumerable<string> files = File.Exists(path) ? [path] : Files(path, "*.md").Concat(Files(path, "*.cs"));

        string[] tooLong = [.. files.SelectMany(TooLong)];

        Assert.True(tooLong.Length == 0, $"Longer than {MaxLength} characters:\n{string.Join('\n', tooLong)}");
    }

    private static IEnumerable<string> Files(string root, string pattern) =>
        Directory.EnumerateFiles(root, pattern, SearchOption.AllDirectories)
        .Where(static file => !IsBuilt(file));

    private static bool IsBuilt(string file)
    {
        string[] folders = Path.GetRelativePath(Repository.Root, file).Split(Path.DirectorySeparatorChar);
        return folders.Contains("bin") || folders.Contains("obj") || folders.Contains("node_modules");
    }

    private static IEnumerable<string> TooLong(string file)
    {
        string[] lines = File.ReadAllLines(file);
        for (int i = 0; i < lines.Length; i++)
        {
            if (lines[i].Length > MaxLength && !IsExcepted(lines[i], isMarkdown: file.EndsWith(".md", StringComparison.Ordinal)))
            {
                yield return $"{Path.GetRelativePath(Repository.Root, file)}:{i + 1}: {lines[i].Length} characters";
            }
        }
    }

    private static bool IsExcepted(string line, bool isMarkdown) =>
        (isMarkdown && line.TrimStart().StartsWith('|'))
        || line.Split(' ').Any(static word => word.Length > MaxLength / 2 && word.Contains("://", StringComparison.Ordinal));
}
