using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// The table of locks in docs/architecture.md names the locks of FastPort.Transport and FastPort.Core, all of them, and neither the
/// document nor docs/message-path.md names a field that does not exist.
/// </summary>
public sealed partial class LockTests
{
    private static readonly string Document = Read("architecture.md");

    [Fact]
    public void Every_field_that_the_documents_name_exists()
    {
        var missing = new List<string>();
        foreach (Match field in FieldName().Matches(Document + Read("message-path.md")))
        {
            string declaration = $@"\b(?:private|protected|internal) [^\n(]* {field.Groups["name"].Value}(?: =|;)";
            if (!CodeOf(field.Groups["type"].Value).Any(code => Regex.IsMatch(code, declaration)))
            {
                missing.Add(field.Value);
            }
        }

        Assert.Empty(missing);
    }

    [Fact]
    public void The_table_has_every_lock_of_Transport_and_Core()
    {
        int begin = Document.IndexOf("## Which lock guards what", StringComparison.Ordinal);
        string table = Document[begin..Document.IndexOf("## Seams", StringComparison.Ordinal)];
        IEnumerable<string> named = FirstCell().Matches(table)
            .SelectMany(static row => MemberName().Matches(row.Value)).Select(static name => name.Groups[1].Value);

        var locks = new List<string>();
        foreach (string file in SourceFiles("FastPort.Transport").Concat(SourceFiles("FastPort.Core")))
        {
            string type = Path.GetFileName(file).Split('.')[0];
            locks.AddRange(LockDeclaration().Matches(File.ReadAllText(file)).Select(found => $"{type}.{found.Groups[1].Value}"));
        }

        Assert.Equal(locks.Order(StringComparer.Ordinal), named.Order(StringComparer.Ordinal));
    }

    private static string Read(string page) => File.ReadAllText(Path.Combine(Repository.Root, "docs", page));

    // The files of a type are named after it, with a part's name behind a dot.
    private static IEnumerable<string> CodeOf(string type) =>
        SourceFiles("").Where(file => Path.GetFileName(file).Split('.')[0] == type).Select(File.ReadAllText);

    private static IEnumerable<string> SourceFiles(string project) =>
        Directory.EnumerateFiles(Path.Combine(Repository.Root, "src", project), "*.cs", SearchOption.AllDirectories)
            .Where(static file => !file.Split(Path.DirectorySeparatorChar).Contains("obj"));

    [GeneratedRegex(@"`(?<type>[A-Z]\w*)\.(?<name>_\w+)`")]
    private static partial Regex FieldName();

    [GeneratedRegex(@"`(\w+\.\w+)`")]
    private static partial Regex MemberName();

    [GeneratedRegex(@"^\| (`[^|]*) \|", RegexOptions.Multiline)]
    private static partial Regex FirstCell();

    // A lock that a thread also waits on is an object.
    [GeneratedRegex(@"\b(?:Lock|object) (_?\w+)(?: \{ get; \})? = new\(\);")]
    private static partial Regex LockDeclaration();
}
