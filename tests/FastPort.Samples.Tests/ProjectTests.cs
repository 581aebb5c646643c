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
    public void Projects_share_no_source_files_of_libraries()
    {
        string[] shared =
            [.. Projects.SelectMany(static project => Items(project, "Compile"))
                .Where(static path => path.StartsWith("../FastPort.", StringComparison.Ordinal))];

        // Names of status codes, of which tags show those of OPC UA: Tags does not use OpcUa, nor OpcUa Tags.
        Assert.Equal(["../FastPort.OpcUa/StatusNames.cs"], shared);
    }

    private static bool IsForTests(string name) => name.EndsWith(".Tests", StringComparison.Ordinal)
        || name is "FastPort.Fuzz" or "FastPort.Benchmarks" or "FastPort.TestHost" or "FastPort.Tests.Support" or "FastPortPeer"
            or "OpcUaStacks";

    private static IEnumerable<string> Items(string project, string kind) => XDocument.Load(project).Descendants(kind)
        .Select(static item => (string?)item.Attribute("Include") ?? string.Empty);
}
