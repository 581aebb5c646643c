using System.Xml.Linq;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What projects of <c>src/</c> see of one another: public types, and a few source files that record 0045 names.</summary>
public sealed class ProjectTests
{
    private static readonly string[] Projects =
        Directory.GetFiles(Path.Combine(Repository.Root, "src"), "*.csproj", SearchOption.AllDirectories);

    [Fact]
    public void Internal_types_are_visible_to_tests_and_measuring_programs_only()
    {
        string[] friends = [.. Items("InternalsVisibleTo")];

        Assert.NotEmpty(friends);
        Assert.All(friends, static name => Assert.True(
            name.EndsWith(".Tests", StringComparison.Ordinal)
                || name is "FastPort.Fuzz" or "FastPort.Benchmarks" or "FastPort.TestHost" or "FastPortPeer",
            name));
    }

    [Fact]
    public void Source_files_that_projects_share_are_those_of_the_record()
    {
        string record = File.ReadAllText(Path.Combine(Repository.Root, "docs", "decisions", "0045-shared-source-files.md"));
        string[] shared = [.. Items("Compile").Where(static path => path.StartsWith("../FastPort.", StringComparison.Ordinal))];

        Assert.NotEmpty(shared);
        Assert.All(shared, path => Assert.Contains($"`{path[3..]}`", record, StringComparison.Ordinal));
    }

    private static IEnumerable<string> Items(string kind) =>
        Projects.SelectMany(project => XDocument.Load(project).Descendants(kind))
            .Select(static item => (string?)item.Attribute("Include") ?? string.Empty);
}
