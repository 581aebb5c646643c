using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// Lines of documents, code, scripts and settings have at most 140 characters. Excepted are rows of Markdown tables, lines that a URL makes
/// long, and files that a program or somebody else has written.
/// </summary>
public sealed class LineLengthTests
{
    private const int MaxLength = 140;

    // Readers look for one figure: the tables stay short, and docs/measurements has the rest.
    private const int MaxLinesOfPerformance = 300;

    private static readonly string[] Patterns =
        ["*.md", "*.cs", "*.js", "*.mjs", "*.css", "*.c", "*.h", "*.proto", "*.csproj", "*.props", "*.json"];

    // What builds and runs leave behind, the chart library, an exported Grafana dashboard, and the inputs of fuzzing.
    private static readonly string[] SkippedFolders =
    [
        "bin", "obj", "artifacts", "Stats", "logs", "TestResults", "BenchmarkDotNet.Artifacts",
        "node_modules", "uPlot", "grafana", "corpus", "findings",
    ];

    public static TheoryData<string> Roots =>
    [
        "docs", "src", "samples", "tests", "benchmarks", "conformance", "clients/typescript/conformance", "fuzz", "fuzz/run", ".ci", "eng",
        "README.md", "CHANGELOG.md", "SECURITY.md", "appsettings.json", "global.json", "Directory.Build.props", "Directory.Packages.props",
    ];

    [Theory]
    [MemberData(nameof(Roots))]
    public void No_line_is_longer_than_140_characters(string root)
    {
        string path = Path.Combine(Repository.Root, root);
        string[] files = File.Exists(path) ? [path] : [.. Files(path)];

        string[] tooLong = [.. files.SelectMany(TooLong)];

        Assert.NotEmpty(files);
        Assert.True(tooLong.Length == 0, $"Longer than {MaxLength} characters:\n{string.Join('\n', tooLong)}");
    }

    [Fact]
    public void The_page_of_measured_tables_has_300_lines_at_most() =>
        Assert.InRange(File.ReadAllLines(Path.Combine(Repository.Root, "docs", "performance.md")).Length, 1, MaxLinesOfPerformance);

    // The scripts in .ci and eng have no extension.
    private static IEnumerable<string> Files(string root) =>
        (Path.GetFileName(root) is ".ci" or "eng" ? ["*"] : Patterns)
        .SelectMany(pattern => Directory.EnumerateFiles(root, pattern, SearchOption.AllDirectories))
        .Where(static file => !IsSkipped(file));

    private static bool IsSkipped(string file) =>
        Path.GetFileName(file) == "package-lock.json"
        || file.EndsWith(".min.js", StringComparison.Ordinal)
        || Path.GetRelativePath(Repository.Root, file).Split(Path.DirectorySeparatorChar).Any(SkippedFolders.Contains);

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
