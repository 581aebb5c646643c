using System.Text.RegularExpressions;
using FastPort.Conformance.Cases;
using Xunit;

// The runs wait more than they compute.
[assembly: Xunit.v3.Parallelization(MaxThreads = 4)]

namespace FastPort.Conformance.Tests;

/// <summary>The cases themselves.</summary>
public sealed partial class CaseTests
{
    public static TheoryData<string> Sections => [.. Suite.Cases.Select(static one => one.Section).Distinct(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Sections))]
    public void The_section_of_a_case_exists(string section)
    {
        string[] parts = section.Split('#');
        string page = File.ReadAllText(Path.Combine(Clients.Repository, "docs", parts[0]));

        Assert.Contains(parts[1], Heading().Matches(page).Select(static match => Anchor(match.Groups[1].Value.Trim())));
    }

    [Fact]
    public void Every_capability_is_needed_by_a_case() =>
        Assert.Empty(CaseFolder.Capabilities.Except(Suite.Cases.SelectMany(static one => one.Needs)));

    [Theory]
    [InlineData("""{ "section": "protocol.md#frame", "steps": [{ "end": true }] }""", "'shows' is missing")]
    [InlineData("""{ "shows": "x", "section": "x", "steps": [] }""", "'steps' are missing")]
    [InlineData("""{ "shows": "x", "section": "x", "steps": [], "timeout": 5 }""", "'timeout' is not known")]
    [InlineData("""{ "shows": "x", "section": "x", "steps": [{ "end": true }], "needs": ["wings"] }""", "no capability 'wings'")]
    [InlineData("""{ "shows": "x", "section": "x", "steps": [{ "expekt": "Hello" }] }""", "no step 'expekt'")]
    [InlineData("""{ "shows": "x", "section": "x", "steps": [{ "expect": "Hello", "feilds": {} }] }""", "'feilds' is not known")]
    [InlineData("""{ "shows": "x", "section": "x", "steps": [{ "ends": true, "allow": [{ "expect": "Ping", "code": 1 }] }] }""", "'code'")]
    public void A_mistake_in_a_case_names_its_file(string json, string problem)
    {
        using var folder = new TemporaryDirectory();
        File.WriteAllText(Path.Combine(folder.Path, "wrong.json"), json);

        FormatException e = Assert.Throws<FormatException>(() => CaseFolder.Read(folder.Path));

        Assert.Contains("wrong.json", e.Message, StringComparison.Ordinal);
        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
    }

    // As GitHub makes anchors of headings.
    private static string Anchor(string heading) =>
        NotInAnchors().Replace(heading.ToLowerInvariant(), string.Empty).Replace(' ', '-');

    [GeneratedRegex("^##+ (.*)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex(@"[^\w\- ]")]
    private static partial Regex NotInAnchors();
}
