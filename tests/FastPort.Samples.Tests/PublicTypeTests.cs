using System.Reflection;
using System.Text.RegularExpressions;
using FastPort.Connections;
using FastPort.Hosting;
using FastPort.Protocol;
using FastPort.Tags.OpcUa;
using FastPort.Tags.Serving;
using FastPort.Testing;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>Every public type has one place in docs/public-api.md, under the people who need it, and every type there is public.</summary>
public sealed partial class PublicTypeTests
{
    [Fact]
    public void Every_public_type_is_listed_once()
    {
        string page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "public-api.md"));
        IEnumerable<string> listed =
            page.Split('\n').Where(static line => line.StartsWith("| ", StringComparison.Ordinal)).SelectMany(static line => NamesIn(line));

        Assembly[] assemblies =
        [
            typeof(Connection).Assembly, typeof(FastPortServer).Assembly, typeof(BytesFields).Assembly, typeof(TagServer).Assembly,
            typeof(OpcUaTagsOptions).Assembly, typeof(TestServer).Assembly,
        ];
        IEnumerable<string> exported = assemblies
            .SelectMany(static assembly => assembly.GetExportedTypes())
            .Where(static type => !type.IsNested && !IsGenerated(type))
            .Select(static type => type.Name.Split('`')[0])
            .Distinct();

        Assert.Equal(exported.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    private static IEnumerable<string> NamesIn(string line) => Name().Matches(line).Select(static name => name.Groups[1].Value);

    // Messages of .proto files are the protocol, not this library's surface.
    private static bool IsGenerated(Type type) =>
        type.GetInterface("Google.Protobuf.IMessage") is not null || type.Name.EndsWith("Reflection", StringComparison.Ordinal);

    [GeneratedRegex("`(\\w+)`")]
    private static partial Regex Name();
}
