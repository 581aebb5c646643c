using System.Xml.Linq;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What projects of <c>src/</c> see of one another: public types, and internal ones where the list of friends says so.</summary>
public sealed class ProjectTests
{
    private static readonly string[] Projects =
        Directory.GetFiles(Path.Combine(Repository.Root, "src"), "*.csproj", SearchOption.AllDirectories);

    // Assemblies of one release: those that see another one's internal types, and whose.
    private static readonly Dictionary<string, string[]> Friends = new(StringComparer.Ordinal)
    {
        ["FastPort.Transport"] =
        [
            "FastPort.Client", "FastPort.Core", "FastPort.Dashboard", "FastPort.OpcBridge", "FastPort.OpcUa", "FastPort.Protocol",
            "FastPort.Redis", "FastPort.Security", "FastPort.Server", "FastPort.Tags", "FastPort.Tags.OpcUa",
        ],
        ["FastPort.Programs"] = ["FastPort.Client", "FastPort.OpcBridge", "FastPort.Programs.Hosting", "FastPort.Server"],
        ["FastPort.Programs.Hosting"] = ["FastPort.OpcBridge", "FastPort.Server"],
        ["FastPort.Tags"] = ["FastPort.Tags.OpcUa"],
        ["FastPort.OpcUa"] = ["FastPort.Tags.OpcFoundation"],
        ["FastPort.Tags.OpcUa"] = ["FastPort.OpcBridge", "FastPort.Tags.OpcFoundation"],
        ["FastPort.Core"] =
        [
            "FastPort.Client", "FastPort.Dashboard", "FastPort.Protocol", "FastPort.Redis", "FastPort.Security", "FastPort.Tags",
        ],
    };

    [Fact]
    public void Internal_types_are_visible_to_the_listed_assemblies_and_to_tests_and_measuring_programs()
    {
        foreach (string project in Projects)
        {
            string[] friends = [.. Items(project, "InternalsVisibleTo").Where(static name => !IsForTests(name))];

            Assert.Equal(
                Friends.GetValueOrDefault(Path.GetFileNameWithoutExtension(project), []),
                friends.Order(StringComparer.Ordinal));
        }
    }

    [Fact]
    public void A_project_compiles_no_source_file_of_another_one()
    {
        string[] files = [.. Files("*.csproj"), .. Files("Directory.Build.*")];

        Assert.NotEmpty(files);
        Assert.All(files, static file => Assert.DoesNotContain(Items(file, "Compile"), static path => path.Contains("..")));
    }

    // Of all projects, also of those that are not part of the solution.
    private static IEnumerable<string> Files(string pattern) =>
        Directory.GetFiles(Repository.Root, pattern, SearchOption.AllDirectories).Where(static file =>
            !file[Repository.Root.Length..].Split(Path.DirectorySeparatorChar).Any(static part => part is "bin" or "obj" or "artifacts"));

    private static bool IsForTests(string name) => name.EndsWith(".Tests", StringComparison.Ordinal)
        || name is "FastPort.Fuzz" or "FastPort.Benchmarks" or "FastPort.Comparisons" or "FastPort.TestHost" or "FastPort.Tests.Support"
            or "FastPortPeer" or "OpcUaStacks";

    private static IEnumerable<string> Items(string project, string kind) => XDocument.Load(project).Descendants(kind)
        .Select(static item => (string?)item.Attribute("Include") ?? string.Empty);
}
