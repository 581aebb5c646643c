using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// The C# in docs/embedding.md is compiled code: above each block a comment names its source, either a whole file or the lines between
/// <c>// docs: name</c> and the next <c>// docs: end</c> of one.
/// </summary>
public sealed class DocumentTests
{
    private const string SourceMark = "<!-- source: ";
    private static readonly string[] Document = File.ReadAllLines(Path.Combine(Repository.Root, "docs", "embedding.md"));

    public static TheoryData<int, string> Blocks
    {
        get
        {
            var blocks = new TheoryData<int, string>();
            for (int i = 0; i < Document.Length; i++)
            {
                if (Document[i] == "```csharp")
                {
                    string mark = i > 0 ? Document[i - 1] : string.Empty;
                    blocks.Add(
                        i + 1, mark.StartsWith(SourceMark, StringComparison.Ordinal)
                            ? mark[SourceMark.Length..].Replace(" -->", string.Empty, StringComparison.Ordinal)
                            : string.Empty);
                }
            }

            return blocks;
        }
    }

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Every_block_of_the_document_is_its_compiled_source(int line, string source)
    {
        Assert.True(source.Length != 0, $"The block in line {line} names no source above it.");
        string[] parts = source.Split('#');
        string[] file = File.ReadAllLines(Path.Combine(Repository.Root, parts[0]));

        string[] expected = parts.Length == 1 ? file : Part(file, parts[1]);

        Assert.Equal(string.Join('\n', expected), string.Join('\n', Document.Skip(line).TakeWhile(static l => l != "```")));
    }

    [Fact]
    public void The_ten_lines_are_ten_at_most()
    {
        foreach (string sample in new[] { "TenLines", "TenLinesHosted" })
        {
            string[] lines = File.ReadAllLines(Path.Combine(Repository.Root, "samples", sample, "Program.cs"));
            int statements = lines.Count(static l => l.Length != 0 && !l.StartsWith("using ", StringComparison.Ordinal));
            Assert.InRange(statements, 1, 10);
            Assert.Contains($"samples/{sample}/Program.cs", Blocks.Select(static b => b.Data.Item2));
        }
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
