using System.Xml.Linq;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// The C#, Protocol Buffers and JavaScript in README.md, in those of the packages, and in the pages of docs are code that runs: above each
/// block a comment names its source, either a whole file or the lines between <c>// docs: name</c> and the next <c>// docs: end</c> of one.
/// </summary>
public sealed class DocumentTests
{
    private const string SourceMark = "<!-- source: ";
    private static readonly Dictionary<string, string[]> Documents = Pages.Concat(PackageReadmes).Append("README.md").ToDictionary(
        static name => name, static name => File.ReadAllLines(Path.Combine(Repository.Root, name)), StringComparer.Ordinal);

    private static IEnumerable<string> Pages =>
        Directory.EnumerateFiles(Path.Combine(Repository.Root, "docs"), "*.md", SearchOption.AllDirectories)
            .Select(static path => Path.GetRelativePath(Repository.Root, path).Replace('\\', '/'))
            .Where(static path => !path.StartsWith("docs/site/", StringComparison.Ordinal)).Order(StringComparer.Ordinal);

    private static IEnumerable<string> PackageReadmes =>
        Directory.EnumerateFiles(Path.Combine(Repository.Root, "src"), "README.md", new EnumerationOptions
        {
            RecurseSubdirectories = true,
            MaxRecursionDepth = 1,
        }).Select(static path => Path.GetRelativePath(Repository.Root, path).Replace('\\', '/')).Order(StringComparer.Ordinal);

    private static IEnumerable<string> Sources => Blocks.Select(static b => b.Data.Item3);

    public static TheoryData<string, int, string> Blocks
    {
        get
        {
            var blocks = new TheoryData<string, int, string>();
            foreach ((string name, string[] document) in Documents)
            {
                Add(name, document);
            }

            return blocks;

            void Add(string name, string[] document)
            {
                for (int i = 0; i < document.Length; i++)
                {
                    if (document[i] is "```csharp" or "```protobuf" or "```javascript")
                    {
                        string mark = i > 0 ? document[i - 1] : string.Empty;
                        string source = mark.StartsWith(SourceMark, StringComparison.Ordinal) ? mark[SourceMark.Length..] : string.Empty;
                        blocks.Add(name, i + 1, source.Replace(" -->", string.Empty, StringComparison.Ordinal));
                    }
                }
            }
        }
    }

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Every_block_of_a_document_is_its_compiled_source(string document, int line, string source)
    {
        Assert.True(source.Length != 0, $"The block in line {line} names no source above it.");
        string[] parts = source.Split('#');
        string[] file = File.ReadAllLines(Path.Combine(Repository.Root, parts[0]));

        string[] expected = parts.Length == 1 ? file : Part(file, parts[1]);

        Assert.Equal(string.Join('\n', expected), string.Join('\n', Documents[document].Skip(line).TakeWhile(static l => l != "```")));
    }

    [Fact]
    public void The_ten_lines_are_ten_at_most()
    {
        foreach (string sample in new[] { "TenLines", "TenLinesHosted" })
        {
            string[] lines = File.ReadAllLines(Path.Combine(Repository.Root, "samples", sample, "Program.cs"));
            int statements = lines.Count(static l => l.Length != 0 && !l.StartsWith("using ", StringComparison.Ordinal));
            Assert.InRange(statements, 1, 10);
            Assert.Contains($"samples/{sample}/Program.cs", Sources);
        }
    }

    [Fact]
    public void The_line_protocol_has_sixty_lines_at_most_with_server_and_client()
    {
        string[] files = ["LineProtocol.cs", "Program.cs"];
        string[] lines = [.. files.SelectMany(static f => File.ReadAllLines(Path.Combine(Repository.Root, "samples", "LineProtocol", f)))];

        int code = lines.Select(static l => l.Trim()).Count(static l =>
            l.Length > 1
            && !l.StartsWith("//", StringComparison.Ordinal)
            && (!l.StartsWith("using ", StringComparison.Ordinal) || l.Contains('=', StringComparison.Ordinal)));
        Assert.InRange(code, 1, 60);
        Assert.All(files, static f => Assert.Contains($"samples/LineProtocol/{f}", Sources));
    }

    [Fact]
    public void The_project_of_a_reader_with_a_checkout_is_that_of_the_sample()
    {
        IEnumerable<string> project = Documents["docs/start.md"]
            .SkipWhile(static l => l != "<Project Sdk=\"Microsoft.NET.Sdk\">").TakeWhile(static l => l != "```");
        var shown = XDocument.Parse(string.Join('\n', project));
        XDocument sample = Load("samples", "OwnMessages", "OwnMessages.csproj");
        XDocument properties = Load("Directory.Build.props");

        Assert.Equal(
            Items(sample).Select(static name => name.Replace("../../src", "../FastPort/src", StringComparison.Ordinal)), Items(shown));
        Assert.Equal(
            properties.Descendants("TargetFramework").Single().Value,
            shown.Descendants("TargetFramework").Single().Value);

        static IEnumerable<string> Items(XDocument file) =>
            file.Descendants("ItemGroup").Elements().Select(static item => item.Attribute("Include")!.Value)
                .Concat(file.Descendants("Import").Select(static import => import.Attribute("Project")!.Value));

        static XDocument Load(params string[] path) => XDocument.Load(Path.Combine([Repository.Root, .. path]));
    }

    private static string[] Part(string[] file, string name)
    {
        string[] part = [.. file.SkipWhile(l => l.Trim() != $"// docs: {name}").Skip(1).TakeWhile(static l => l.Trim() != "// docs: end")];
        Assert.True(part.Length != 0, $"There is no part '{name}'.");
        int indent = part.Where(static l => l.Length != 0).Min(static l => l.Length - l.TrimStart().Length);
        string[] shifted = [.. part.Select(l => l.Length == 0 ? l : l[indent..])];
        return [.. shifted.SkipWhile(static l => l.Length == 0).Reverse().SkipWhile(static l => l.Length == 0).Reverse()];
    }
}
